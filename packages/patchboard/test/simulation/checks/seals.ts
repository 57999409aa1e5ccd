import { storedCalls, type Check } from './check.ts';
import { endedAt, enteredAt, latenessIn } from './undisturbed.ts';

/** A call is sealed as interrupted only if its node was gone, or could have seemed to be. */
export const seals: Check = {
  name: 'seals',
  check: async ({ world, store }) => {
    const lateness = latenessIn(world);
    if (lateness === null) return [];
    return (await storedCalls(store)).flatMap((call) => {
      const [began, ended] = [enteredAt(call, 'EXECUTING'), endedAt(call)];
      if (call.state.name !== 'SEALED' || began === null || ended === null) return [];
      return lateness.isCalm(began, ended) ? [`${call.id} was sealed, and no node was gone`] : [];
    });
  },
};
