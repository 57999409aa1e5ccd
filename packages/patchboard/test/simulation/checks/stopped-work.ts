import { COMPARE_EVERY_MS } from '../../../src/cluster/timing.ts';
import { storedCalls, type Check } from './check.ts';
import { endedAt, latenessIn } from './undisturbed.ts';

/** When a call has ended, its tool is stopped: one that obeys the signal does nothing any more. */
export const stoppedWork: Check = {
  name: 'stopped work',
  check: async ({ world, history, store }) => {
    const lateness = latenessIn(world);
    if (lateness === null) return [];
    const { nodes, notificationLoss } = world.profile;
    // A node that was not notified compares the calls that it holds with the store.
    const compareMs = nodes > 1 && notificationLoss > 0 ? COMPARE_EVERY_MS : 0;
    const ends = new Map((await storedCalls(store)).map((call) => [call.id, endedAt(call)]));
    return history.of('tool acts').flatMap(({ at, who, data }) => {
      // A client that is not connected cannot be stopped.
      if (!who.startsWith('node-')) return [];
      const id = String(data['call']);
      const ended = ends.get(id) ?? null;
      if (
        ended === null ||
        at - ended <= lateness.bound(ended, at) + compareMs ||
        data['tool'] === 'server.stubborn'
      )
        return [];
      return [`${String(data['tool'])} acted on ${who} ${Math.round(at - ended)} ms after the end of ${id}`];
    });
  },
};
