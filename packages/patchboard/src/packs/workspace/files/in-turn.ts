import type { FilePool } from '../services.ts';

const last = new WeakMap<FilePool, Promise<void>>();

/** One after the other within a run: what it has seen of a file must not be overtaken by what it writes. */
export async function inTurn<T>(pool: FilePool, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(pool) ?? Promise.resolve()).then(work);
  // Without its result: that would be a file for each run that was ever open.
  last.set(pool, mine.then(nothing, nothing));
  return await mine;
}

function nothing(): void {}
