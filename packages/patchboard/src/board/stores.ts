import { mkdir } from 'node:fs/promises';
import type { Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';

/** Where a board keeps its calls. */
export interface BoardStore {
  open(): Promise<Store>;
  /** Null: nothing outlives the process. */
  readonly folder: string | null;
}

/** Forgets everything with the process. */
export function memory(): BoardStore {
  return { folder: null, open: () => Promise.resolve(memoryStore({ digest: nodeDigest })) };
}

/** Keeps calls in a folder: every receipt survives a crash. */
export function sqlite(folder: string): BoardStore {
  const open = async (): Promise<Store> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await sqliteStore({ file: storeFileIn(folder), digest: nodeDigest });
  };
  return { folder, open };
}
