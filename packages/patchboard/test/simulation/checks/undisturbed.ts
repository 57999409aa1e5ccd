import type { Call } from '../../../src/core/call/call.ts';
import { EPOCH } from '../simulated-clock.ts';
import type { World } from '../world.ts';

/** Of the timer wheel, of waits for several commits, and of polls between nodes. */
const TIMERS_MS = 100;
const COMMITS = 8;
const POLL_MS = 1100;

/**
 * How late something may be in a simulation without faults and with right clocks, where the times of the history and those
 * of the records are comparable. Null: this simulation has faults or wrong clocks.
 */
export function latenessBound({ plan: { steps, profile } }: World): number | null {
  if (profile.skewMs !== 0 || steps.some(({ actor }) => actor === 'faults')) return null;
  const delays = COMMITS * profile.storeDelayMs + 2 * profile.networkDelayMs;
  return TIMERS_MS + delays + (profile.nodes > 1 ? POLL_MS : 0);
}

/** When the call entered a state first, in simulated milliseconds. */
export function enteredAt({ timeline }: Call, state: string): number | null {
  const entry = timeline.find((candidate) => candidate.state === state);
  return entry === undefined ? null : entry.at - EPOCH;
}

/** When the call ended, in simulated milliseconds. */
export function endedAt({ timeline, state }: Call): number | null {
  const last = timeline.at(-1);
  return last === undefined || 'deadlineAt' in state ? null : last.at - EPOCH;
}
