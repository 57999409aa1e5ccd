import { isTerminal, type CallStateName } from '@patchboard/wire';
import { callSeenIn, storedCalls, type Check } from './check.ts';
import { endedAt, latenessIn } from './undisturbed.ts';

/** A wait for a call returns soon after the call has ended, and not before, unless its time is over. */
export const waits: Check = {
  name: 'waits',
  check: async ({ world, history, store }) => {
    const lateness = latenessIn(world);
    if (lateness === null) return [];
    const calls = new Map((await storedCalls(store)).map((call) => [call.id, call]));
    const responses = new Map(history.of('seen').map((entry) => [entry.who, entry]));
    const problems: string[] = [];
    for (const { who, at, data } of history.of('wait')) {
      const call = calls.get(String(data['call']));
      const response = responses.get(who);
      const ended = call === undefined ? null : endedAt(call);
      if (response === undefined || ended === null) continue;
      const seen = callSeenIn(response);
      const isEarly = response.at - at < Number(data['ms']) && lateness.isCalm(at, response.at);
      if (seen !== null && isEarly && !isTerminal(seen.state as CallStateName))
        problems.push(
          `${who} waited ${Math.round(response.at - at)} of ${String(data['ms'])} ms for ${call?.id}`,
        );
      const lateMs = response.at - Math.max(at, ended);
      if (lateMs > lateness.bound(Math.max(at, ended), response.at))
        problems.push(`${who} waited for ${call?.id} until ${Math.round(lateMs)} ms after its end`);
    }
    return problems;
  },
};
