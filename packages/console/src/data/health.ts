import { isTerminal, type CallView } from '@patchboard/wire';

/** Waiting, running and total time of a call. */
export const MEASURES = ['waited', 'ran', 'total'] as const;

export type Measure = (typeof MEASURES)[number];

/** Milliseconds; null if the call has not ended, or an older server does not report it. */
export function timeOf(call: CallView, measure: Measure): number | null {
  switch (measure) {
    case 'waited':
      return call.waited_ms;
    case 'ran':
      return call.ran_ms;
    case 'total':
      return call.duration_ms;
  }
}

/** The known times of the calls, in ascending order. */
export function timesOf(calls: readonly CallView[], measure: Measure): readonly number[] {
  return calls.flatMap((call) => timeOf(call, measure) ?? []).sort((one, other) => one - other);
}

/** Statistics of a tool's last calls. */
export interface ToolHealth {
  readonly count: number;
  readonly succeeded: number;
  readonly medianMs: Readonly<Record<Measure, number | null>>;
  readonly slowMs: Readonly<Record<Measure, number | null>>;
  readonly failures: readonly CallView[];
}

export function healthOf(calls: readonly CallView[]): ToolHealth {
  const ended = calls.filter(({ state }) => isTerminal(state));
  const at = (share: number): ToolHealth['medianMs'] => ({
    waited: percentile(timesOf(ended, 'waited'), share),
    // A call that never ran does not count for the running time.
    ran: percentile(
      timesOf(
        ended.filter(({ attempts }) => attempts.length > 0),
        'ran',
      ),
      share,
    ),
    total: percentile(timesOf(ended, 'total'), share),
  });
  return {
    count: ended.length,
    succeeded: ended.filter(({ status }) => status === 'SUCCEEDED').length,
    medianMs: at(0.5),
    slowMs: at(0.95),
    failures: ended.filter(({ status }) => status !== 'SUCCEEDED').slice(0, 5),
  };
}

/** Nearest-rank percentile of sorted numbers; null if there are none. */
export function percentile(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? null;
}
