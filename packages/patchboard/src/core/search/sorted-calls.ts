import { timesSoFar } from '../call/call-times.ts';
import type { Call } from '../call/call.ts';
import type { CallSort, FoundCall } from './call-search.ts';

/** An open call with what the list is sorted by. */
export interface FoundOpenCall extends FoundCall {
  /** Null: it is not in memory, and is read when it is listed. */
  readonly call: Call | null;
}

/** Negative if `one` comes before `other` in the list. */
export function compareFound(one: FoundCall, other: FoundCall, { isAscending }: CallSort): number {
  const ascending = one.value - other.value || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
  return isAscending ? ascending : -ascending;
}

/** What the call is sorted by; the durations of an open call are those up to `now`. */
export function sortValue(call: Call, { by }: CallSort, now: number): number {
  if (by === 'created') return call.createdAt;
  const { waitedMs, ranMs, totalMs } = timesSoFar(call, now);
  return { waited: waitedMs, ran: ranMs, total: totalMs }[by];
}

/**
 * Merges two sorted lists. A call that is in both has ended since it was read as an open one: its ended form stays.
 */
export function mergeFound(
  open: readonly FoundOpenCall[],
  ended: readonly FoundCall[],
  sort: CallSort,
): readonly (FoundCall | FoundOpenCall)[] {
  const endedIds = new Set(ended.map(({ id }) => id));
  const rest = open.filter(({ id }) => !endedIds.has(id));
  return [...rest, ...ended].sort((one, other) => compareFound(one, other, sort));
}
