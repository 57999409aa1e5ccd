import { StorageFull, StorageUnavailable } from '../../core/failures.ts';
import { timedOut } from '../../postgres/connection.ts';
import { isCausedByOneWrite, isDiskFull, isTimeout, sqlState } from '../../postgres/sql-errors.ts';

/** Finds the write that makes a batch fail. `waits`: how many parts may still wait for a lock. */
export interface Search {
  waits: number;
}

/** Whether other writes of the batch succeed without it: also if a value of one cannot be encoded. */
export function isOfOneWrite(error: unknown): boolean {
  if (error instanceof StorageUnavailable) return false;
  return isCausedByOneWrite(error) || sqlState(error) === null;
}

/** A locked table makes every part wait, a locked row only one of each size. */
export function isExhausted(search: Search | null, error: unknown): boolean {
  if (search === null || !isTimeout(error)) return false;
  search.waits -= 1;
  return search.waits < 0;
}

/** Converts the error of a batch to the one that its callers get. */
export function rejection(error: unknown): unknown {
  if (isDiskFull(error)) return new StorageFull('the disk of the database is full');
  return isTimeout(error) ? timedOut(error) : error;
}
