import type { Check } from './check.ts';
import { callSeenIn } from './check.ts';

/** Every call of which a response told is stored. */
export const receipts: Check = {
  name: 'receipts',
  check: async ({ history, store }) => {
    const problems: string[] = [];
    for (const entry of history.entries) {
      const seen = callSeenIn(entry);
      if (seen !== null && (await store.findCall(seen.id)) === undefined)
        problems.push(`${entry.who} was told of ${seen.id} at ${entry.at}, and it is not stored`);
    }
    return problems;
  },
};
