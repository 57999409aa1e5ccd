/** Runs in the sandbox, one process per workspace: reads, writes and searches files for the server, over IPC. */
import { readdirSync, type Dirent } from 'node:fs';
import type { FolderEntry } from '../../core/sandbox.ts';
import type { Cancel, Reply, Request } from './messages.ts';
import { readFile } from './read-file.ts';
import { errorCode, Refusal } from './refusal.ts';
import { replaceFiles } from './replace-files.ts';
import { glob, grep } from './search.ts';
import { atPlace } from './walk.ts';

const [root = '', ripgrep = ''] = process.argv.slice(2);
const searches = new Map<number, AbortController>();

process.on('message', (message: Request | Cancel) => {
  if (message.kind === 'cancel') searches.get(message.id)?.abort();
  else handle(message).catch((error: unknown) => process.exit(reportError(error)));
});
process.on('disconnect', () => process.exit(0));

async function handle(request: Request): Promise<void> {
  const { id } = request;
  let reply: Reply;
  try {
    reply = { id, ok: true, value: await run(request) };
  } catch (error) {
    reply = { id, ok: false, ...toFailure(error) };
  } finally {
    searches.delete(id);
  }
  process.send?.(reply);
}

/** Called when a reply cannot be sent. The server reads stderr when this process ends. */
function reportError(error: unknown): number {
  process.stderr.write(`${String(error)}\n`);
  return 1;
}

function run(request: Request): unknown {
  switch (request.kind) {
    case 'read':
      return readFile(root, request.params.path, request.params.options);
    case 'replace':
      return replaceFiles(root, request.params.changes);
    case 'list':
      return list(request.params.path);
    case 'glob':
      return glob(search(request.id), request.params);
    case 'grep':
      return grep(search(request.id), request.params);
  }
}

function search(id: number): { root: string; ripgrep: string; signal: AbortSignal } {
  const stop = new AbortController();
  searches.set(id, stop);
  return { root, ripgrep, signal: stop.signal };
}

function list(path: string): FolderEntry[] {
  return atPlace(root, path, false, ({ handle }) =>
    readdirSync(handle, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
}

function kindOf(entry: Dirent): FolderEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}

function toFailure(error: unknown): Pick<Extract<Reply, { ok: false }>, 'code' | 'why'> {
  if (error instanceof Refusal) return { code: error.code, why: error.why };
  // Only the code: the message of a system error may contain an internal path.
  const code = errorCode(error);
  return {
    code: 'tool_failed',
    why:
      code === undefined
        ? { code: 'text', params: { text: String(error) } }
        : { code: 'system_call_failed', params: { error: code } },
  };
}
