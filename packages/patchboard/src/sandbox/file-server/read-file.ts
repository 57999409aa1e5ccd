import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import type { FileContent, ReadOptions } from '../../core/sandbox.ts';
import { errorCode, MissingFolder, Refusal } from './refusal.ts';
import { atPlace, type Place } from './walk.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const CHUNK_BYTES = 1024 * 1024;
/** Shared by all reads, which are synchronous: a new megabyte for each read kept the garbage collector busy. */
const CHUNK = Buffer.allocUnsafeSlow(CHUNK_BYTES);
const NEWLINE = 10;
const EVERYTHING: ReadOptions = { maxBytes: Number.MAX_SAFE_INTEGER };

/** Returns null if there is no such file. */
export function readFile(root: string, path: string, options: ReadOptions): FileContent | null {
  try {
    return atPlace(root, path, false, (place) => readPlace(place, options));
  } catch (error) {
    if (error instanceof MissingFolder) return null;
    throw error;
  }
}

/** Returns the version of the file at a place; null if there is none. */
export function versionAt(place: Place): string | null {
  return readPlace(place, { ...EVERYTHING, maxBytes: 0 })?.version ?? null;
}

function readPlace(place: Place, options: ReadOptions): FileContent | null {
  const file = openFile(place);
  if (file === null) return null;
  try {
    return { path: place.path, ...readOpen(file, options) };
  } finally {
    closeSync(file);
  }
}

/** Checks the type before opening, because opening a device can have effects, and after, because the file may have been replaced. */
function openFile({ handle, path }: Place): number | null {
  const before = lstatSync(handle, { throwIfNoEntry: false });
  if (before === undefined) return null;
  refuseUnlessFile(before, path);
  let file: number;
  try {
    // O_NONBLOCK: opening a FIFO that replaced the file must not block.
    file = openSync(handle, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    if (errorCode(error) === 'EACCES')
      throw new Refusal('permission_denied', { code: 'path_not_readable', params: { path } });
    if (errorCode(error) === 'ELOOP')
      throw new Refusal('conflict', { code: 'path_became_link', params: { path } });
    throw error;
  }
  try {
    refuseUnlessFile(fstatSync(file), path);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

export function refuseUnlessFile(found: Stats, path: string): void {
  if (found.isFile()) return;
  if (path === '') throw new Refusal('tool_failed', { code: 'workspace_is_folder', params: {} });
  const kind = found.isDirectory() ? 'is_folder' : found.isSymbolicLink() ? 'is_link' : 'not_regular';
  throw new Refusal('tool_failed', { code: `path_${kind}`, params: { path } });
}

/** Counts lines, computes the hash and keeps the requested lines, in one pass. */
function readOpen(file: number, { maxBytes, lines }: ReadOptions): Omit<FileContent, 'path'> {
  const hash = createHash('sha256');
  const wanted = new Window(maxBytes, lines?.offset ?? 1, lines?.limit ?? Number.MAX_SAFE_INTEGER);
  let size = 0;
  for (;;) {
    const count = readSync(file, CHUNK, 0, CHUNK_BYTES, null);
    if (count === 0) break;
    const bytes = CHUNK.subarray(0, count);
    hash.update(bytes);
    wanted.take(bytes);
    size += count;
  }
  return { ...wanted.result(), size, version: hash.digest('hex') };
}

/** Keeps the lines from `offset` on, counted from 1, up to `limit` lines and `maxBytes` bytes. */
class Window {
  readonly #kept: Buffer[] = [];
  readonly #maxBytes: number;
  readonly #first: number;
  readonly #last: number;
  #bytes = 0;
  #newlines = 0;
  #endsOpen = false;
  #truncated = false;

  constructor(maxBytes: number, offset: number, limit: number) {
    this.#maxBytes = maxBytes;
    this.#first = offset;
    this.#last = offset + limit - 1;
  }

  take(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline === -1 ? chunk.length : newline + 1;
      this.#line(chunk, from, to);
      this.#endsOpen = newline === -1;
      if (newline !== -1) this.#newlines += 1;
      from = to;
    }
  }

  result(): { bytes: Uint8Array; lineCount: number; truncated: boolean } {
    return {
      bytes: Buffer.concat(this.#kept),
      lineCount: this.#newlines + (this.#endsOpen ? 1 : 0),
      truncated: this.#truncated,
    };
  }

  #line(chunk: Buffer, from: number, to: number): void {
    const line = this.#newlines + 1;
    if (line < this.#first || line > this.#last) {
      this.#truncated = true;
      return;
    }
    const room = this.#maxBytes - this.#bytes;
    const length = Math.min(room, to - from);
    if (length < to - from) this.#truncated = true;
    if (length === 0) return;
    this.#kept.push(Buffer.from(chunk.subarray(from, from + length)));
    this.#bytes += length;
  }
}
