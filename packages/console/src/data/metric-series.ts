import {
  momentText,
  queryTerm,
  withQueryTerm,
  type CallMetricsView,
  type MetricGroupName,
  type MetricPointView,
  type MetricSeriesView,
  type PercentilesView,
} from '@patchboard/wire';

/** Start of every bucket, also of those without calls; epoch seconds. */
export function bucketTimes({ since, until, bucket_s: width }: CallMetricsView): readonly number[] {
  const first = Math.floor(since / width) * width;
  return Array.from(
    { length: Math.max(Math.ceil((until - first) / width), 0) },
    (_, index) => first + index * width,
  );
}

/** The counted time of the bucket that begins at `at`: the first and the last bucket of a view may be cut. */
export function countedTime(
  { since, until, bucket_s: width }: CallMetricsView,
  at: number,
): { readonly from: number; readonly to: number } {
  return { from: Math.max(at, since), to: Math.min(at + width, until) };
}

/** Seconds of the view that have passed; its end may be in the future. */
export function passedSeconds({ since, until }: CallMetricsView, now: number): number {
  return Math.max(Math.min(until, now) - since, 1);
}

export function perMinute(count: number, seconds: number): number {
  return (count * 60) / seconds;
}

function pointsOf(
  view: CallMetricsView,
  { points }: MetricSeriesView,
): readonly { readonly at: number; readonly point: MetricPointView | undefined }[] {
  const byTime = new Map(points.map((point) => [point.at, point]));
  return bucketTimes(view).map((at) => ({ at, point: byTime.get(at) }));
}

/**
 * Calls per minute in each bucket, zero without calls. A bucket that has not passed yet, or is cut, counts as at least half a bucket,
 * because few calls in a moment would look like many; null if it has no calls so far.
 */
export function ratesOf(
  view: CallMetricsView,
  series: MetricSeriesView,
  now: number,
): readonly (number | null)[] {
  const width = view.bucket_s;
  return pointsOf(view, series).map(({ at, point }) => {
    const { from, to } = countedTime(view, at);
    const passed = Math.min(now, to) - from;
    if (point === undefined) return passed < width / 2 ? null : 0;
    return perMinute(point.count, Math.max(passed, width / 2));
  });
}

/** Percent of failed calls; null without calls. */
export function failedShare({
  count,
  failed,
}: {
  readonly count: number;
  readonly failed: number;
}): number | null {
  return count === 0 ? null : (100 * failed) / count;
}

export function failedShares(view: CallMetricsView, series: MetricSeriesView): readonly (number | null)[] {
  return pointsOf(view, series).map(({ point }) => (point === undefined ? null : failedShare(point)));
}

/** Whether all calls of a series end alike, so that its failed share says nothing, and its share of all calls is shown. */
export function endsAlike(by: MetricGroupName | null): boolean {
  return by === 'outcome' || by === 'code';
}

/** Percent of all calls that are of a series; null without calls. `all` may have been read a moment earlier. */
export function shareOfCalls(count: number, all: number): number | null {
  return all === 0 ? null : Math.min((100 * count) / all, 100);
}

/** The share of a series in all calls, in each bucket. */
export function sharesOfCalls(
  view: CallMetricsView,
  series: MetricSeriesView,
  all: MetricSeriesView | undefined,
): readonly (number | null)[] {
  const counts = new Map(all?.points.map(({ at, count }) => [at, count]));
  return pointsOf(view, series).map(({ at, point }) =>
    shareOfCalls(point?.count ?? 0, counts.get(at) ?? point?.count ?? 0),
  );
}

export type TimeName = 'ran_ms' | 'waited_ms';

/** Null where nothing was measured. */
export function percentilesIn(
  view: CallMetricsView,
  series: MetricSeriesView,
  time: TimeName,
  name: keyof PercentilesView,
): readonly (number | null)[] {
  return pointsOf(view, series).map(({ point }) => point?.[time]?.[name] ?? null);
}

interface Timed {
  readonly ran_ms: PercentilesView | null;
  readonly waited_ms: PercentilesView | null;
}

/**
 * Returns the query for calls that were counted from `from` to `to`, epoch seconds. Calls are counted when they end and
 * listed by their creation: the list begins earlier by the longest time that one of them took.
 */
export function queryWithin(query: string, from: number, to: number, { ran_ms, waited_ms }: Timed): string {
  const tookMs = (ran_ms?.max ?? 0) + (waited_ms?.max ?? 0);
  const range = [
    queryTerm('since', [momentText(Math.floor(from * 1000 - tookMs))]),
    queryTerm('until', [momentText(to * 1000)]),
  ];
  return [query, ...range].filter((term) => term !== '').join(' ');
}

/** Returns the query for the calls of a series, or for its refused requests. */
export function queryOfSeries(
  query: string,
  by: MetricGroupName | null,
  { key, outcomes }: Pick<MetricSeriesView, 'key' | 'outcomes'>,
  isRefused: boolean,
): string {
  const states = Object.keys(outcomes).filter((outcome) => outcome !== 'REFUSED');
  const stateTerm = isRefused ? ['refused'] : null;
  if (by === 'outcome') return withQueryTerm(query, 'state', [key.toLowerCase()]);
  if (by === 'code' && key === '')
    return withQueryTerm(query, 'state', stateTerm ?? states.map((state) => state.toLowerCase()));
  const own = by === null ? query : withQueryTerm(query, by, [key]);
  return stateTerm === null ? own : withQueryTerm(own, 'state', stateTerm);
}

/** Returns the query for what `failed` of a series counts; for its refused requests if no call failed. */
export function queryOfFailures(
  query: string,
  by: MetricGroupName | null,
  series: Pick<MetricSeriesView, 'key' | 'outcomes'>,
): string {
  const states = failedStates(series);
  const own = queryOfSeries(query, by, series, states.length === 0);
  if (states.length === 0) return own;
  return withQueryTerm(
    own,
    'state',
    states.map((state) => state.toLowerCase()),
  );
}

/** The states other than COMPLETED that calls of a series ended in. Refused requests made no call. */
export function failedStates({ outcomes }: Pick<MetricSeriesView, 'outcomes'>): readonly string[] {
  return Object.keys(outcomes).filter((outcome) => outcome !== 'REFUSED' && outcome !== 'COMPLETED');
}

/** Whether a series has refused requests only: it leads to those instead of calls. */
export function hasOnlyRefused({ count, outcomes }: Pick<MetricSeriesView, 'count' | 'outcomes'>): boolean {
  return count > 0 && outcomes.REFUSED === count;
}

/** How many refused requests a row of a series names beside its calls; none where the name of the series says it. */
export function namedRefusals(
  by: MetricGroupName | null,
  { outcomes }: Pick<MetricSeriesView, 'outcomes'>,
): number {
  return by === 'outcome' ? 0 : (outcomes.REFUSED ?? 0);
}

/** What a table of series is sorted by: the name, a time such as `ran_p95`, failures or their share, or else the count. */
export function seriesValue(series: MetricSeriesView, column: string, name: string): string | number | null {
  const [time, percentile] = column.split('_');
  if (time === 'ran' || time === 'waited') {
    const times = time === 'ran' ? series.ran_ms : series.waited_ms;
    return times?.[percentile as keyof PercentilesView] ?? null;
  }
  switch (column) {
    case 'failed':
      return series.failed;
    case 'share':
      return failedShare(series);
    case 'name':
      return name;
    default:
      // The rate is the count per time, so that both have one order.
      return series.count;
  }
}
