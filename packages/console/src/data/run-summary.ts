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
  /** The call that was executed longest, not counting its waits; null if none was executed. */
  readonly slowest: { readonly call: TracedCall; readonly ranMs: number } | null;
  /** Calls that wait for an approval now. */
  readonly waiting: readonly TracedCall[];
  readonly open: number;
  /** Open calls that are executed now. */
  readonly running: number;
  readonly failed: number;
  readonly agents: readonly string[];
  readonly runs: readonly string[];
}

/** Null without calls. */
export function summaryOf(calls: readonly TracedCall[], now: number): CallsSummary | null {
  if (calls.length === 0) return null;
  const segments = calls.flatMap((call) => segmentsOf(call, now));
  return {
    from: calls.reduce((least, call) => Math.min(least, startOf(call)), Infinity),
    to: calls.reduce((most, call) => Math.max(most, endOf(call, now)), 0),
    busyMs: unionMs(segments.filter(({ state }) => state === 'EXECUTING')),
    approvalMs: unionMs(segments.filter(({ state }) => state === 'APPROVAL_REQUIRED')),
    slowest: slowestOf(calls, now),
    waiting: calls.filter(({ state }) => state === 'APPROVAL_REQUIRED'),
    open: calls.filter(isOpenCall).length,
    running: calls.filter(({ state }) => state === 'EXECUTING').length,
    failed: calls.filter((call) => !isOpenCall(call) && call.state !== 'COMPLETED').length,
    agents: [...new Set(calls.map(({ agent }) => agent))],
    runs: [...new Set(calls.map(({ run }) => run))],
  };
}

function slowestOf(calls: readonly TracedCall[], now: number): CallsSummary['slowest'] {
  let slowest: CallsSummary['slowest'] = null;
  for (const call of calls) {
    const executed = segmentsOf(call, now).filter(({ state }) => state === 'EXECUTING');
    const ranMs = unionMs(executed);
    if (executed.length > 0 && (slowest === null || ranMs > slowest.ranMs)) slowest = { call, ranMs };
  }
  return slowest;
}
