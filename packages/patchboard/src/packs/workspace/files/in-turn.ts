import type { FilePool } from '../services.ts';

const last = new WeakMap<FilePool, Promise<void>>();

/** Serialises the file operations of a run, so that a read cannot record an older version than a concurrent write. */
export async function inTurn<T>(pool: FilePool, work: () => Promise<T>): Promise<T> {
  const current = (last.get(pool) ?? Promise.resolve()).then(work);
  // Without the result, which would keep a file in memory for each open run.
  last.set(pool, current.then(nothing, nothing));
  return await current;
}

function nothing(): void {}
