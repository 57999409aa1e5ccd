import type { Entry } from '../history.ts';
import { SIMULATED_LIMITS } from '../profile.ts';
import { storedCalls, type Check, type Evidence } from './check.ts';
import { endedAt, latenessIn } from './undisturbed.ts';

/** Commits between the return of a device and the moment at which its calls are assigned to it. */
const COMMITS = 8;

/** A device that resumes its session in time, at whichever node, keeps its calls: none ends as if the device had left. */
export const sessions: Check = {
  name: 'sessions',
  check: async (evidence) => {
    const { world, store } = evidence;
    const lateness = latenessIn(world);
    if (lateness === null) return [];
    return (await storedCalls(store)).flatMap((call) => {
      const { state, id } = call;
      const ended = endedAt(call);
      const sent = world.database.assigned.get(id);
      if (!('error' in state) || state.error.code !== 'provider_disconnected') return [];
      if (ended === null || sent === undefined || !lateness.isCalm(sent.at, ended)) return [];
      return wasThere(evidence, sent.device, sent.at, ended)
        ? [`${id} ended as if ${sent.device} had left, which resumed its session in time`]
        : [];
    });
  },
};

/** Whether the device resumed each connection that it lost from `from` to `to`, and lost one, and nothing else happened. */
function wasThere({ world, history }: Evidence, device: string, from: number, to: number): boolean {
  const { storeDelayMs, networkDelayMs } = world.profile;
  const graceMs = (SIMULATED_LIMITS.deviceGraceMs ?? 0) - COMMITS * storeDelayMs - 4 * networkDelayMs;
  const own = history.entries.filter(
    ({ who, at }) => who === device && at >= from - networkDelayMs && at <= to,
  );
  let lostAt: number | null = null;
  let returns = 0;
  for (const entry of own) {
    if (entry.what === 'leave' || isForgetful(entry)) return false;
    if (entry.what === 'vanish' || entry.what === 'closed') lostAt ??= entry.at;
    if (entry.what !== 'welcome') continue;
    if (entry.data['resumed'] !== true || lostAt === null || entry.at - lostAt > graceMs) return false;
    lostAt = null;
    returns += 1;
  }
  return lostAt === null && returns > 0;
}

function isForgetful({ what, data }: Entry): boolean {
  return what === 'vanish' && data['forgets'] === true;
}
