import { CALL_STATES, type CallStateName, type CallView } from '@patchboard/wire';
import { percentile, timesOf, type Measure } from './health.ts';

/** One time bucket: the calls that started in it, by state, and their durations. */
export interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly byState: Readonly<Partial<Record<CallStateName, number>>>;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface BucketsWanted {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The time that the percentiles measure. */
  readonly measure: Measure;
}

/** Divides `from` to `to` into equal buckets. */
export function bucketsOf(
  calls: readonly CallView[],
  { from, to, count, measure }: BucketsWanted,
): readonly Bucket[] {
  const width = Math.max((to - from) / count, 1);
  const sorted: CallView[][] = Array.from({ length: count }, () => []);
  for (const call of calls) {
    const at = Math.floor((call.created_at * 1000 - from) / width);
    sorted[Math.min(Math.max(at, 0), count - 1)]?.push(call);
  }
  return sorted.map((own, index) => {
    const measured = measure === 'ran' ? own.filter(({ attempts }) => attempts.length > 0) : own;
    const times = timesOf(measured, measure);
    return {
      from: from + index * width,
      to: from + (index + 1) * width,
      byState: countStates(own),
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      p99: percentile(times, 0.99),
    };
  });
}

function countStates(calls: readonly CallView[]): Bucket['byState'] {
  const counts: Partial<Record<CallStateName, number>> = {};
  for (const { state } of calls) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** The states that occur, in life-cycle order. */
export function statesIn(buckets: readonly Bucket[]): readonly CallStateName[] {
  return CALL_STATES.filter((state) => buckets.some(({ byState }) => (byState[state] ?? 0) > 0));
}
