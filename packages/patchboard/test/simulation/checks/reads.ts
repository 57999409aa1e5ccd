import { callSeenIn, type Check } from './check.ts';

/** A response to a request that was sent after another response shows no earlier version of a call. */
export const reads: Check = {
  name: 'reads',
  check: async ({ history }) => {
    const problems: string[] = [];
    /** The newest version that a response has shown so far. */
    const newest = new Map<string, number>();
    /** The newest versions when the request of a step was sent. */
    const atRequest = new Map<string, ReadonlyMap<string, number>>();
    for (const entry of history.entries) {
      const seen = callSeenIn(entry);
      if (seen === null) {
        if ('to' in entry.data) atRequest.set(entry.who, new Map(newest));
        continue;
      }
      const least = atRequest.get(entry.who)?.get(seen.id) ?? 0;
      // A receipt shows the call as it was recorded.
      if (seen.version < least && entry.what !== 'receipt')
        problems.push(
          `${entry.who} saw version ${seen.version} of ${seen.id} after version ${least} had been seen`,
        );
      newest.set(seen.id, Math.max(newest.get(seen.id) ?? 0, seen.version));
    }
    return problems;
  },
};
