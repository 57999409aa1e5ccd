import type { OutcomeName } from '@patchboard/wire';
import type { MetricGroup } from '../../../core/search/metric-groups.ts';
import { STATE_CODES, stateNameOf } from '../../state-codes.ts';

/** The outcome `REFUSED` beside the codes of states; never change it. */
const REFUSED_CODE = -1;

/** The bucket that has the number of calls, beside those of the durations; never change it. */
export const CALLS_BUCKET = -1;
/** Added to the buckets of run times, so that one pair of arrays has both histograms; never change it. */
const RUN_TIME_OFFSET = 8192;

export function outcomeCode(outcome: OutcomeName): number {
  return outcome === 'REFUSED' ? REFUSED_CODE : STATE_CODES[outcome];
}

export function outcomeOf(code: number): OutcomeName {
  return code === REFUSED_CODE ? 'REFUSED' : stateNameOf(code);
}

/** What `buckets` and `counts` of a row have. One pair of arrays makes one pass of a sum over many rows. */
export interface StoredDurations {
  readonly buckets: readonly number[];
  readonly counts: readonly number[];
}

export function storedDurations({
  count,
  waited,
  ran,
}: Pick<MetricGroup, 'count' | 'waited' | 'ran'>): StoredDurations {
  return {
    buckets: [
      CALLS_BUCKET,
      ...waited.counts.keys(),
      ...[...ran.counts.keys()].map((bucket) => bucket + RUN_TIME_OFFSET),
    ],
    counts: [count, ...waited.counts.values(), ...ran.counts.values()],
  };
}

/** Reads what `storedDurations` returned, in any order. */
export function durationsOf({
  buckets,
  counts,
}: StoredDurations): Pick<MetricGroup, 'count' | 'waited' | 'ran'> {
  const waited = new Map<number, number>();
  const ran = new Map<number, number>();
  let count = 0;
  for (const [index, bucket] of buckets.entries()) {
    const own = counts[index] ?? 0;
    if (bucket === CALLS_BUCKET) count = own;
    else if (bucket >= RUN_TIME_OFFSET) ran.set(bucket - RUN_TIME_OFFSET, own);
    else waited.set(bucket, own);
  }
  return { count, waited: { counts: waited }, ran: { counts: ran } };
}
