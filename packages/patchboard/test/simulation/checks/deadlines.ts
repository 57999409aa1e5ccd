import { SIMULATED_LIMITS } from '../profile.ts';
import { storedCalls, type Check } from './check.ts';
import { endedAt, enteredAt, latenessIn } from './undisturbed.ts';

/** A call ends soon after the deadline of its state: the time limit of its tool, or the longest wait for an approval. */
export const deadlines: Check = {
  name: 'deadlines',
  check: async ({ world, store }) => {
    const lateness = latenessIn(world);
    if (lateness === null) return [];
    const problems: string[] = [];
    for (const call of await storedCalls(store)) {
      // The time of a tool stops while it waits for input.
      if (call.inputs.length > 0) continue;
      const ended = endedAt(call);
      const late = (state: string, limitMs: number): void => {
        const began = enteredAt(call, state);
        if (began === null || ended === null || ended - began <= limitMs + lateness.bound(began, ended))
          return;
        problems.push(
          `${call.id} ended ${Math.round(ended - began - limitMs)} ms after its time in ${state}`,
        );
      };
      late('EXECUTING', call.timeoutMs);
      // The time of a client's tool includes the wait for the client.
      if (call.clientId !== null) late('PENDING', call.timeoutMs);
      const waits = call.timeline.some(({ state }) => state === 'APPROVED');
      if (!waits) late('APPROVAL_REQUIRED', SIMULATED_LIMITS.approvalExpiryMs ?? 0);
    }
    return problems;
  },
};
