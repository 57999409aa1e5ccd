import { extname } from 'node:path';
import { reason } from '@patchboard/wire';
import { withoutHalfCharacter } from '../../../core/json/utf8-bytes.ts';
import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { servicesOf } from '../../../core/workspaces.ts';
import { argumentsOf, count, FLAG, object, PATH, refuse, renamed, TEXT } from '../contract.ts';
import type { WorkspaceRules } from '../rules.ts';
import { inTurn } from './in-turn.ts';
import { decodeText } from './text-files.ts';

interface ReadArguments {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
  readonly encoding?: 'utf8' | 'base64';
}

const MAX_BYTES = 256 * 1024;
const MAX_BINARY_BYTES = 640 * 1024;
const MAX_LINES = 100_000;
const IMAGES: ReadonlyMap<string, string> = new Map([
  ['.png', 'image/png'],
  ['.jpg', 'image/jpeg'],
  ['.jpeg', 'image/jpeg'],
  ['.gif', 'image/gif'],
  ['.webp', 'image/webp'],
  ['.bmp', 'image/bmp'],
  ['.ico', 'image/x-icon'],
  ['.avif', 'image/avif'],
]);

export function readTool(rules: WorkspaceRules): ServerTool {
  return rules.reads({
    name: 'fs_read',
    description:
      'Read a file of the workspace. Text comes line by line from offset (1 is the first), images and encoding base64 as base64.',
    inputSchema: object(
      {
        path: PATH,
        offset: count(1, Number.MAX_SAFE_INTEGER, 'first line, 1 by default'),
        limit: count(1, MAX_LINES, 'how many lines'),
        encoding: { enum: ['utf8', 'base64'] },
      },
      ['path'],
    ),
    outputSchema: object(
      {
        path: TEXT,
        content: TEXT,
        lineCount: { type: 'integer', description: 'of the whole file' },
        size: { type: 'integer', description: 'of the whole file, in bytes' },
        encoding: { enum: ['utf8', 'base64'] },
        truncated: { ...FLAG, description: 'there is more in the file' },
        mediaType: TEXT,
      },
      ['path', 'content', 'lineCount', 'size', 'encoding', 'truncated'],
    ),
    spell: (args) => renamed(args, { file_path: 'path' }),
    execute: async (args, context) => {
      const { sandbox } = context;
      const { filePool } = servicesOf(context);
      const { path, offset = 1, limit = MAX_LINES, encoding } = argumentsOf<ReadArguments>(args);
      const isBinary = encoding === 'base64' || imageTypeOf(path) !== null;
      const options = isBinary
        ? { maxBytes: MAX_BINARY_BYTES }
        : { maxBytes: MAX_BYTES, lines: { offset, limit } };
      const file = await inTurn(filePool, async () => {
        const read = await sandbox.files.read(path, options);
        if (read !== undefined) filePool.remember(read);
        return read;
      });
      if (file === undefined) throw refuse('tool_failed', reason('file_unknown', { path }));
      const { lineCount, size, truncated } = file;
      const known = { path: file.path, lineCount, size, truncated };
      if (isBinary) {
        const mediaType = imageTypeOf(path);
        const content = Buffer.from(file.bytes).toString('base64');
        return { ...known, content, encoding: 'base64', ...(mediaType === null ? {} : { mediaType }) };
      }
      return { ...known, content: textOf(file.bytes, truncated, path), encoding: 'utf8' };
    },
  });
}

/** Returns the media type by the extension; null if it is not an image type that models accept. */
function imageTypeOf(path: string): string | null {
  return IMAGES.get(extname(path).toLowerCase()) ?? null;
}

function textOf(bytes: Uint8Array, truncated: boolean, path: string): string {
  // The limit may split a character, whose first bytes are dropped then.
  const whole = truncated ? withoutHalfCharacter(bytes) : bytes;
  const text = decodeText(whole);
  if (text !== null && !text.includes('\0')) return text;
  throw refuse('tool_failed', reason('file_not_text_read_bytes', { path }));
}
