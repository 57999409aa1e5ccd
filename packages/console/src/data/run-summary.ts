import { segmentsOf, unionMs } from './call-segments.ts';
import { endOf, isOpenCall, startOf, type TracedCall } from './traced-call.ts';

/** Figures of the calls that are loaded. */
export interface CallsSummary {
  /** Epoch milliseconds of the first beginning and the last end. */
  readonly from: number;
  readonly to: number;
  /** How long at least one call was executed. */
  readonly busyMs: number;
  /** How long at least one call waited for an approval. */
  readonly approvalMs: number;
  readonly slowest: TracedCall;
  readonly slowestMs: number;
  /** Calls that wait for an approval now. */
  readonly waiting: readonly TracedCall[];
  readonly open: number;
  readonly failed: number;
  readonly agents: readonly string[];
  readonly runs: readonly string[];
}

/** Null without calls. */
export function summaryOf(calls: readonly TracedCall[], now: number): CallsSummary | null {
  const [first] = calls;
  if (first === undefined) return null;
  const lengthOf = (call: TracedCall): number => endOf(call, now) - startOf(call);
  const segments = calls.flatMap((call) => segmentsOf(call, now));
  const slowest = calls.reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one), first);
  return {
    from: calls.reduce((least, call) => Math.min(least, startOf(call)), Infinity),
    to: calls.reduce((most, call) => Math.max(most, endOf(call, now)), 0),
    busyMs: unionMs(segments.filter(({ state }) => state === 'EXECUTING')),
    approvalMs: unionMs(segments.filter(({ state }) => state === 'APPROVAL_REQUIRED')),
    slowest,
    slowestMs: lengthOf(slowest),
    waiting: calls.filter(({ state }) => state === 'APPROVAL_REQUIRED'),
    open: calls.filter(isOpenCall).length,
    failed: calls.filter((call) => !isOpenCall(call) && call.state !== 'COMPLETED').length,
    agents: [...new Set(calls.map(({ agent }) => agent))],
    runs: [...new Set(calls.map(({ run }) => run))],
  };
}
