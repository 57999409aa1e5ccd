import { mkdir } from 'node:fs/promises';
import type { Log, Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';

/** The storage of a board. */
export interface BoardStore {
  /**
   * @internal `retain`: as in `BoardOptions`; a store may ignore it and leave purging to the board. `log`: for problems
   * with its files.
   */
  open(options?: { readonly retain?: number | undefined; readonly log?: Log | undefined }): Promise<Store>;
  /** Null: the store is in memory only. */
  readonly folder: string | null;
}

/** Default of `retain` with `memory()`. */
export const DEFAULT_RETAIN = 10_000;

/** Stores calls in memory only, and keeps at most `retain` ended calls (default 10,000). */
export function memory(): BoardStore {
  return {
    folder: null,
    open: ({ retain = DEFAULT_RETAIN } = {}) => Promise.resolve(memoryStore({ digest: nodeDigest, retain })),
  };
}

/** Stores calls in a folder. Every receipt survives a crash. */
export function sqlite(folder: string): BoardStore {
  const open: BoardStore['open'] = async ({ log } = {}) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await sqliteStore({ file: storeFileIn(folder), digest: nodeDigest, log });
  };
  return { folder, open };
}
