import { endedAt, type Call } from './call.ts';

/** How an ended call spent its time: `totalMs` is `waitedMs` plus `ranMs`. */
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
  if (ended === null) return null;
  const started = call.timeline.find(({ state }) => state === 'EXECUTING')?.at ?? ended;
  return { waitedMs: started - call.createdAt, ranMs: ended - started, totalMs: ended - call.createdAt };
}
