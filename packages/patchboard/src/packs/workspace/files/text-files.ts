import { reason } from '@patchboard/wire';
import type { FileVersion, Sandbox } from '../../../core/sandbox.ts';
import type { FilePool } from '../services.ts';
import { refuse } from '../contract.ts';

export interface TextFile extends FileVersion {
  readonly text: string;
}

const MAX_EDITED_BYTES = 4 * 1024 * 1024;

/** Reads a whole file for editing. Throws for a file that is not UTF-8 text, because editing would damage it. */
export async function readText(sandbox: Sandbox, path: string): Promise<TextFile> {
  const file = await sandbox.files.read(path, { maxBytes: MAX_EDITED_BYTES });
  if (file === undefined) throw refuse('tool_failed', reason('file_missing_create', { path }));
  if (file.truncated)
    throw refuse('result_too_large', reason('file_over_edit_limit', { path, bytes: MAX_EDITED_BYTES }));
  const { size, version } = file;
  const text = decodeText(file.bytes);
  if (text === null) throw refuse('tool_failed', reason('file_not_text', { path }));
  return { path: file.path, size, version, text };
}

/** Returns null if the bytes are not UTF-8. Keeps a byte order mark. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Throws if the file has changed since the run read it. A run may change a file that it never read. */
export function refuseStale(pool: FilePool, { path, version }: FileVersion): void {
  const seen = pool.seen(path);
  if (seen === undefined || seen === version) return;
  throw refuse('conflict', reason('file_changed', { path }));
}
