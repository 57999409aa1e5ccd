/** Runs enclosed, one per workspace: reads, writes and searches files for the server, which asks over IPC. */
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
  else reply(message).catch((error: unknown) => process.exit(failed(error)));
});
process.on('disconnect', () => process.exit(0));

async function reply(request: Request): Promise<void> {
  const { id } = request;
  let answer: Reply;
  try {
    answer = { id, ok: true, value: await answerTo(request) };
  } catch (error) {
    answer = { id, ok: false, ...explain(error) };
  } finally {
    searches.delete(id);
  }
  process.send?.(answer);
}

/** Nobody can be answered any more: the server sees the end, and what was said last. */
function failed(error: unknown): number {
  process.stderr.write(`${String(error)}\n`);
  return 1;
}

function answerTo(request: Request): unknown {
  switch (request.kind) {
    case 'read':
      return readFile(root, request.ask.path, request.ask.options);
    case 'replace':
      return replaceFiles(root, request.ask.changes);
    case 'list':
      return list(request.ask.path);
    case 'glob':
      return glob(search(request.id), request.ask);
    case 'grep':
      return grep(search(request.id), request.ask);
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

function explain(error: unknown): Pick<Extract<Reply, { ok: false }>, 'code' | 'message'> {
  if (error instanceof Refusal) return { code: error.code, message: error.message };
  // The system's own message may name a place of ours; its code says enough.
  const code = errorCode(error);
  return { code: 'tool_failed', message: code === undefined ? String(error) : `the system answered ${code}` };
}
