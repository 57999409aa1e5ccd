import { reason } from '@patchboard/wire';
import type { ServerTool, ToolContext } from '../../../core/tools/server-tool.ts';
import { servicesOf } from '../../../core/workspaces.ts';
import { argumentsOf, FLAG, isWellFormed, object, PATH, refuse, renamed, TEXT } from '../contract.ts';
import type { WorkspaceRules } from '../rules.ts';
import { emitFileChange } from './file-events.ts';
import { inTurn } from './in-turn.ts';
import { refuseStale } from './text-files.ts';

export function writeTool(rules: WorkspaceRules): ServerTool {
  return rules.writes({
    name: 'fs_write',
    description:
      'Write a whole file, with the folders it needs. A reader sees the old file or the new one. Refused if the file has changed since this run read it.',
    inputSchema: object({ path: PATH, content: TEXT }, ['path', 'content']),
    outputSchema: object({ path: TEXT, size: { type: 'integer' }, created: FLAG }, [
      'path',
      'size',
      'created',
    ]),
    spell: (args) => renamed(args, { file_path: 'path', contents: 'content' }),
    execute: async (args, context) => {
      const { path, content } = argumentsOf<{ path: string; content: string }>(args);
      if (!isWellFormed(content)) throw refuse('input_invalid', reason('content_half_surrogate'));
      return await inTurn(servicesOf(context).filePool, () => write(path, content, context));
    },
  });
}

async function write(path: string, content: string, context: ToolContext): Promise<unknown> {
  const { files } = context.sandbox;
  const { filePool } = servicesOf(context);
  const before = await files.read(path, { maxBytes: 0 });
  if (before !== undefined) refuseStale(filePool, before);
  const [file] = await files.replace([{ path, content, expected: before?.version ?? null }]);
  if (file === undefined) throw new Error('the sandbox returned no version for the written file');
  filePool.remember(file);
  emitFileChange(context, file, before === undefined ? 'created' : 'modified');
  return { path: file.path, size: file.size, created: before === undefined };
}
