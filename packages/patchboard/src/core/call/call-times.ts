import { endedAt, type Call } from './call.ts';

/** How a call that has ended spent its time; `waitedMs` and `ranMs` make up the whole. */
export interface CallTimes {
  /** Before its first execution: for an operator, a slot or its client. All of it, if it was never executed. */
  readonly waitedMs: number;
  /** From its first execution to its end, pauses between attempts included. */
  readonly ranMs: number;
  readonly totalMs: number;
}

/** Null while the call is open. */
export function timesOf(call: Call): CallTimes | null {
  const ended = endedAt(call);
  if (ended === null) return null;
  const started = call.timeline.find(({ state }) => state === 'EXECUTING')?.at ?? ended;
  return { waitedMs: started - call.createdAt, ranMs: ended - started, totalMs: ended - call.createdAt };
}
