import type { Call } from '../../../src/core/call/call.ts';
import { disturbancesOf, disturbedMs } from '../disturbances.ts';
import { EPOCH } from '../simulated-clock.ts';
import type { World } from '../world.ts';

/** Of the timer wheel, of waits for several commits, and of polls between nodes. */
const TIMERS_MS = 100;
const COMMITS = 8;
const POLL_MS = 1100;
/** After a disturbance: until another node has taken over, and what was refused is tried again. */
const RECOVERY_MS = 4000;

/** Times are simulated milliseconds. */
export interface Lateness {
  /** Returns how late something may be that was due at `from` and happened at `to`. */
  readonly bound: (from: number, to: number) => number;
  /** Whether nothing was wrong from `from` to `to`, and `beforeMs` before. */
  readonly isCalm: (from: number, to: number, beforeMs?: number) => boolean;
}

/**
 * The lateness that the delays of a simulation explain, and its disturbances in that time. Null: the clocks of this
 * simulation are wrong, so that the times of the history and those of the records cannot be compared.
 */
export function latenessIn({ plan: { profile }, history }: World): Lateness | null {
  // Nodes that share a store take their time from it.
  const isClockWrong = profile.skewMs !== 0 || history.of('jump').length > 0;
  if (profile.nodes === 1 && isClockWrong) return null;
  const delays = COMMITS * profile.storeDelayMs + 2 * profile.networkDelayMs;
  const usual = TIMERS_MS + delays + (profile.nodes > 1 ? POLL_MS : 0);
  const disturbances = disturbancesOf(history);
  // What happened shortly before may still be repaired.
  const disturbed = (from: number, to: number, beforeMs = RECOVERY_MS): number =>
    disturbedMs(disturbances, from - beforeMs, to);
  return {
    bound: (from, to) => usual + (disturbed(from, to) === 0 ? 0 : disturbed(from, to) + RECOVERY_MS),
    isCalm: (from, to, beforeMs) => disturbed(from, to, beforeMs) === 0,
  };
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
