import { isTerminal } from '@patchboard/wire';
import { callSeenIn, storedCalls, type Check } from './check.ts';
import { seenCall, type SeenCall } from '../history.ts';

/** Each call has one ending, which every response that shows an ending shows. */
export const endings: Check = {
  name: 'endings',
  check: async ({ history, store }) => {
    const problems: string[] = [];
    const stored = new Map((await storedCalls(store)).map((call) => [call.id, call]));
    for (const call of stored.values()) {
      const ends = call.timeline.filter(({ state }) => isTerminal(state));
      if (ends.length !== 1 || call.timeline.at(-1) !== ends[0])
        problems.push(`${call.id} is ${call.state.name}, with ${ends.length} ends in its timeline`);
    }
    for (const entry of history.entries) {
      const seen = callSeenIn(entry);
      const final = seen === null ? undefined : stored.get(seen.id);
      if (seen === null || final === undefined || !isTerminal(seen.state as never)) continue;
      if (!isSame(seen, seenCall(final)))
        problems.push(
          `${entry.who} saw ${JSON.stringify(seen)}, and stored is ${JSON.stringify(seenCall(final))}`,
        );
    }
    return problems;
  },
};

function isSame(a: SeenCall, b: SeenCall): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
