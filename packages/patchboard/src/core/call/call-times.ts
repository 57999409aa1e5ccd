import { endedAt, type Call } from './call.ts';

/** How a call spent its time: `totalMs` is `waitedMs` plus `ranMs`. */
export interface CallTimes {
  /** Time before the first execution: waiting for an operator, a slot or the client. The whole time if it never executed. */
  readonly waitedMs: number;
  /** Time from the first execution to the end, pauses between attempts included. */
  readonly ranMs: number;
  readonly totalMs: number;
}

/** Returns null while the call is open. */
export function timesOf(call: Call): CallTimes | null {
  const ended = endedAt(call);
  return ended === null ? null : timesUntil(call, ended);
}

/** The times of an ended call; of an open one, those up to `now`, or up to its last move if that was later. */
export function timesSoFar(call: Call, now: number): CallTimes {
  return timesOf(call) ?? timesUntil(call, Math.max(now, call.timeline.at(-1)?.at ?? call.createdAt));
}

function timesUntil(call: Call, until: number): CallTimes {
  const started = call.timeline.find(({ state }) => state === 'EXECUTING')?.at ?? until;
  return { waitedMs: started - call.createdAt, ranMs: until - started, totalMs: until - call.createdAt };
}
