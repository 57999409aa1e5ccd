import type { MetricPointView, MetricSeriesView, OutcomeName } from '@patchboard/wire';
import type { LargestSeries, MetricCell } from './call-search.ts';
import { mergedHistogram, percentilesOf } from './histogram.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Widths of buckets that divide an hour, a day or a week. Wider ones are whole days. */
const WIDTHS_MS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
];

/** A range of time in buckets of one width. */
export interface Buckets {
  /** Epoch milliseconds: whole minutes, or whole hours. Buckets begin at multiples of `stepMs`. */
  readonly since: number;
  readonly until: number;
  readonly stepMs: number;
}

/** A request that names an absolute time arrives later than its caller computed the time. */
const LATE_MS = 5000;

/**
 * Returns the narrowest bucket width, at least `leastMs`, at which `points` buckets are as long as the time. The time itself
 * is extended to multiples of `leastMs`; if it does not begin at a bucket, it touches one bucket more than `points`.
 */
export function bucketsFor(since: number, until: number, points: number, leastMs: number): Buckets {
  const least = Math.max(leastMs, (until - since - LATE_MS) / points);
  const stepMs = WIDTHS_MS.find((width) => width >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
  return {
    since: Math.floor(since / leastMs) * leastMs,
    until: Math.ceil(until / leastMs) * leastMs,
    stepMs,
  };
}

/** The series of the cells, the largest first: at most `limit` of them, and the number of the others. */
export function seriesOf(cells: readonly MetricCell[], limit: number): LargestSeries {
  const counted = [...groupsOf(cells, ({ key }) => key)].map(([key, own]) => ({
    key,
    own,
    count: countOf(own),
  }));
  counted.sort((one, other) => other.count - one.count || (one.key < other.key ? -1 : 1));
  const series = counted.slice(0, limit).map(({ key, own }) => oneSeries(key, own));
  return { series, more: counted.length - series.length };
}

function oneSeries(key: string, cells: readonly MetricCell[]): MetricSeriesView {
  const outcomes: Partial<Record<OutcomeName, number>> = {};
  // Tools choose codes: one may be `__proto__`, which a property of an object must not be set by.
  const codes = new Map<string, number>();
  for (const { outcome, code, count } of cells) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    if (code !== null) codes.set(code, (codes.get(code) ?? 0) + count);
  }
  const byTime = [...groupsOf(cells, ({ at }) => at)].sort(([one], [other]) => one - other);
  const points = byTime.map(([at, own]): MetricPointView => ({ at: at / 1000, ...summaryOf(own) }));
  return { key, ...summaryOf(cells), outcomes, codes: Object.fromEntries(codes), points };
}

function summaryOf(cells: readonly MetricCell[]): Omit<MetricPointView, 'at'> {
  return {
    count: countOf(cells),
    failed: countOf(cells.filter(({ outcome }) => outcome !== 'COMPLETED')),
    ran_ms: percentilesOf(mergedHistogram(cells.map(({ ran }) => ran))),
    waited_ms: percentilesOf(mergedHistogram(cells.map(({ waited }) => waited))),
  };
}

function countOf(cells: readonly MetricCell[]): number {
  return cells.reduce((sum, { count }) => sum + count, 0);
}

function groupsOf<Key>(
  cells: readonly MetricCell[],
  keyOf: (cell: MetricCell) => Key,
): ReadonlyMap<Key, readonly MetricCell[]> {
  const groups = new Map<Key, MetricCell[]>();
  for (const cell of cells) {
    const group = groups.get(keyOf(cell));
    if (group === undefined) groups.set(keyOf(cell), [cell]);
    else group.push(cell);
  }
  return groups;
}
