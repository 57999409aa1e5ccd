import type { FileVersion, Sandbox } from '../../../core/sandbox.ts';
import type { FilePool } from '../services.ts';
import { refuse } from '../contract.ts';

export interface TextFile extends FileVersion {
  readonly text: string;
}

const MAX_EDITED_BYTES = 4 * 1024 * 1024;

/** For editing: whole, and refused unless it is text, because what is not would be damaged. */
export async function readText(sandbox: Sandbox, path: string): Promise<TextFile> {
  const file = await sandbox.files.read(path, { maxBytes: MAX_EDITED_BYTES });
  if (file === undefined) throw refuse('tool_failed', `no such file: ${path}; fs_write makes one`);
  if (file.truncated)
    throw refuse(
      'result_too_large',
      `${path} is larger than ${MAX_EDITED_BYTES} bytes, the most that is edited`,
    );
  const { size, version } = file;
  const text = decodeText(file.bytes);
  if (text === null) throw refuse('tool_failed', `${path} is not UTF-8 text`);
  return { path: file.path, size, version, text };
}

/** Null: it is not UTF-8. A byte order mark stays. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** What the run has seen must still be there; what it never saw it may change. */
export function refuseStale(pool: FilePool, { path, version }: FileVersion): void {
  const seen = pool.seen(path);
  if (seen === undefined || seen === version) return;
  throw refuse('conflict', `${path} was changed by someone else since this run read it: read it again first`);
}
