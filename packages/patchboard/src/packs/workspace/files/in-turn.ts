import type { FilePool } from '../../../core/workspaces.ts';

const last = new WeakMap<FilePool, Promise<unknown>>();

/** One after the other within a run: what it has seen of a file must not be overtaken by what it writes. */
export async function inTurn<T>(pool: FilePool, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(pool) ?? Promise.resolve()).then(work, work);
  last.set(pool, mine);
  return await mine;
}
