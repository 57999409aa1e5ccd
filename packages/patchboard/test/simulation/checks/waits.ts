import { storedCalls, type Check } from './check.ts';
import { endedAt, latenessBound } from './undisturbed.ts';

/** A wait for a call returns soon after the call has ended. */
export const waits: Check = {
  name: 'waits',
  check: async ({ world, history, store }) => {
    const bound = latenessBound(world);
    if (bound === null) return [];
    const calls = new Map((await storedCalls(store)).map((call) => [call.id, call]));
    const responses = new Map(history.of('seen').map((entry) => [entry.who, entry]));
    const problems: string[] = [];
    for (const { who, at, data } of history.of('wait')) {
      const call = calls.get(String(data['call']));
      const response = responses.get(who);
      const ended = call === undefined ? null : endedAt(call);
      if (response === undefined || ended === null) continue;
      const lateMs = response.at - Math.max(at, ended);
      if (lateMs > bound)
        problems.push(`${who} waited for ${call?.id} until ${Math.round(lateMs)} ms after its end`);
    }
    return problems;
  },
};
