import type { CallView } from '@patchboard/wire';

/** The median running time in milliseconds of calls that ran and ended; null if there are none. */
export function medianRunMs(calls: readonly CallView[]): number | null {
  // A call that never ran does not count for the running time.
  const times = calls
    .filter(({ attempts }) => attempts.length > 0)
    .flatMap(({ ran_ms: ms }) => ms ?? [])
    .sort((one, other) => one - other);
  return times[Math.ceil(times.length / 2) - 1] ?? null;
}
