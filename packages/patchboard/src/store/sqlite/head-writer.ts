import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../core/failures.ts';
import type { Digest, Log } from '../../core/ports.ts';
import { currentHead } from './current-head.ts';
import { headFileOf, headText, isSameHead, writtenHead, type StoreHead } from './store-head.ts';
import type { StoreLoss } from './store-loss.ts';

/** The interval of writes while the store is busy. The loss of rows newer than the last write cannot be detected. */
const WRITE_EVERY_MS = 1000;

export interface HeadWriterParts {
  readonly databaseFile: string;
  readonly digest: Digest;
  readonly log: Log | undefined;
  /** Returns false if the files of the store were replaced; then the new ones must not be changed. */
  readonly mayWrite: () => boolean;
}

/** After an accepted loss, the head file is not changed until the first write. */
export function headWriterOf(
  database: DatabaseSync,
  parts: HeadWriterParts,
  loss: StoreLoss | null,
): HeadWriter {
  const head = currentHead(database);
  const written = loss === null ? writtenHead(parts.databaseFile, parts.digest) : head;
  return new HeadWriter(parts, head, written);
}

/** Updates the head file after commits, asynchronously and at most once a second. */
export class HeadWriter {
  readonly #parts: HeadWriterParts;
  #head: StoreHead;
  /** The content of the file as far as it is known; null if it is missing or invalid. */
  #written: StoreHead | null;
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writtenAt = -Infinity;
  #isFailing = false;
  #isClosed = false;

  constructor(parts: HeadWriterParts, head: StoreHead, written: StoreHead | null) {
    this.#parts = parts;
    this.#head = head;
    this.#written = written;
  }

  /** Must be called after each durable commit. */
  advance(seq: number, hash: string): void {
    if (seq === this.#head.seq) return;
    this.#head = { ...this.#head, seq, hash };
    this.#schedule();
  }

  /** Resolves when the file contains the value, or could not be written. */
  async setKeysExisted(keysExisted: boolean): Promise<void> {
    if (keysExisted === this.#head.keysExisted) return;
    this.#head = { ...this.#head, keysExisted };
    await this.flush();
  }

  /** Writes the file if it is not up to date. A failure is logged and retried after a second. */
  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const writing = this.#writeAfter(this.#writing);
    this.#writing = writing;
    await writing;
    if (this.#writing !== writing) return;
    this.#writing = null;
    if (!this.isWritten) this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  /** Whether the file is up to date. */
  get isWritten(): boolean {
    return this.#written !== null && isSameHead(this.#head, this.#written);
  }

  #schedule(): void {
    if (this.#timer !== null || this.#writing !== null || this.#isClosed) return;
    const wait = Math.max(0, this.#writtenAt + WRITE_EVERY_MS - performance.now());
    this.#timer = setTimeout(() => void this.flush(), wait);
    this.#timer.unref();
  }

  async #writeAfter(other: Promise<void> | null): Promise<void> {
    await other;
    if (this.isWritten) return;
    const { databaseFile, digest, log, mayWrite } = this.#parts;
    const file = headFileOf(databaseFile);
    const head = this.#head;
    try {
      if (await replaceFile(file, headText(head, digest), mayWrite)) this.#written = head;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log?.warn('store.head_failed', { file, error: messageOf(error) });
      this.#isFailing = true;
    }
    this.#writtenAt = performance.now();
  }
}

/**
 * Replaces a file atomically: writes a temporary file, syncs it, renames it and syncs the folder. Calls `mayReplace` before
 * and in between, so that the file of a folder that replaced this one meanwhile is not changed. Resolves to false if nothing
 * was replaced.
 */
async function replaceFile(file: string, text: string, mayReplace: () => boolean): Promise<boolean> {
  if (!mayReplace()) return false;
  const draft = `${file}.new`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // Detects a folder replaced before the draft was written; if it is replaced after this check, the rename fails.
  if (!mayReplace()) {
    await rm(draft, { force: true });
    return false;
  }
  await rename(draft, file);
  await syncFolder(dirname(file));
  return true;
}

/** Windows has no descriptors of folders, and makes a rename durable by itself. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
