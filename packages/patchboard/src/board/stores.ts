import { mkdir } from 'node:fs/promises';
import type { Log, Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';

/** Where a board keeps its calls. */
export interface BoardStore {
  /**
   * @internal `retain`: as in `BoardOptions`; a store that keeps every call may leave it to the board. `log`: for what happens to
   * its files while it is open.
   */
  open(options?: { readonly retain?: number | undefined; readonly log?: Log | undefined }): Promise<Store>;
  /** Null: nothing outlives the process. */
  readonly folder: string | null;
}

/** Ended calls that a board keeps in memory unless `retain` says otherwise. */
export const DEFAULT_RETAIN = 10_000;

/** Loses everything with the process, and keeps a bounded number of ended calls: `retain` of the board, 10,000 by default. */
export function memory(): BoardStore {
  return {
    folder: null,
    open: ({ retain = DEFAULT_RETAIN } = {}) => Promise.resolve(memoryStore({ digest: nodeDigest, retain })),
  };
}

/** Keeps calls in a folder: every receipt survives a crash. */
export function sqlite(folder: string): BoardStore {
  const open: BoardStore['open'] = async ({ log } = {}) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await sqliteStore({ file: storeFileIn(folder), digest: nodeDigest, log });
  };
  return { folder, open };
}
