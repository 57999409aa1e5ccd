import { describe, expect, it } from 'vitest';
import type { MetricCell } from './call-search.ts';
import { histogramOf } from './histogram.ts';
import { bucketsFor, seriesOf } from './metric-series.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 0, 31, 12);

describe('bucketsFor', () => {
  it('covers the time with as many of the narrowest buckets', () => {
    const widths: [ageMs: number, points: number, leastMs: number, stepMs: number][] = [
      [HOUR, 60, MINUTE, MINUTE],
      [HOUR, 59, MINUTE, 2 * MINUTE],
      [DAY, 60, MINUTE, 30 * MINUTE],
      [3 * HOUR, 60, HOUR, HOUR],
      [7 * DAY, 60, HOUR, 3 * HOUR],
      [30 * DAY, 60, HOUR, 12 * HOUR],
      [100 * DAY, 60, HOUR, 2 * DAY],
      [1, 200, MINUTE, MINUTE],
    ];
    for (const [ageMs, points, leastMs, stepMs] of widths) {
      const since = NOON + 12_345 - ageMs;
      const buckets = bucketsFor(since, NOON + 12_345, points, leastMs);
      expect(buckets.stepMs, `${ageMs} in ${points}`).toBe(stepMs);
      expect([buckets.since % leastMs, buckets.until % leastMs]).toEqual([0, 0]);
      expect(since - buckets.since).toBeLessThan(leastMs);
      expect(buckets.until - (NOON + 12_345)).toBeLessThan(leastMs);
      expect(buckets.since).toBeLessThanOrEqual(since);
      expect(buckets.until).toBeGreaterThanOrEqual(NOON + 12_345);
      expect((buckets.until - buckets.since) / stepMs).toBeLessThanOrEqual(points + 1);
    }
  });

  it('covers an hour by minutes, also if its begin was computed a moment before', () => {
    const until = NOON + 12_345;
    for (const late of [0, 1, 900])
      expect(bucketsFor(until - HOUR - late, until, 60, MINUTE)).toEqual({
        since: NOON - HOUR,
        until: NOON + MINUTE,
        stepMs: MINUTE,
      });
  });
});

function cell(given: Partial<MetricCell>): MetricCell {
  const none = { waited: histogramOf([]), ran: histogramOf([]) };
  return { at: NOON, key: '', outcome: 'COMPLETED', code: null, count: 1, ...none, ...given };
}

describe('seriesOf', () => {
  it('sums counts and merges durations per key and time', () => {
    const { series, more } = seriesOf(
      [
        cell({ at: NOON + MINUTE, count: 2, ran: histogramOf([10, 20]), waited: histogramOf([0, 0]) }),
        cell({ outcome: 'FAILED', code: '__proto__', ran: histogramOf([30]), waited: histogramOf([1]) }),
        cell({ at: NOON + MINUTE, outcome: 'REFUSED', code: 'rate_limited', count: 4 }),
      ],
      5,
    );
    expect(more).toBe(0);
    expect(series).toEqual([
      {
        key: '',
        count: 7,
        failed: 5,
        outcomes: { COMPLETED: 2, FAILED: 1, REFUSED: 4 },
        codes: Object.fromEntries([
          ['__proto__', 1],
          ['rate_limited', 4],
        ]),
        ran_ms: { p50: 20, p95: 30, p99: 30, max: 30 },
        waited_ms: { p50: 0, p95: 1, p99: 1, max: 1 },
        points: [
          {
            at: NOON / 1000,
            count: 1,
            failed: 1,
            ran_ms: { p50: 30, p95: 30, p99: 30, max: 30 },
            waited_ms: { p50: 1, p95: 1, p99: 1, max: 1 },
          },
          {
            at: NOON / 1000 + 60,
            count: 6,
            failed: 4,
            ran_ms: { p50: 10, p95: 20, p99: 20, max: 20 },
            waited_ms: { p50: 0, p95: 0, p99: 0, max: 0 },
          },
        ],
      },
    ]);
    expect(JSON.stringify(series)).toContain('"__proto__":1');
  });

  it('keeps the largest series, and counts the others', () => {
    const cells = ['c', 'a', 'b', 'd'].map((key, count) => cell({ key, count: count === 0 ? 3 : count }));
    const { series, more } = seriesOf(cells, 2);
    expect([series.map(({ key }) => key), more]).toEqual([['c', 'd'], 2]);
    expect(seriesOf([], 5)).toEqual({ series: [], more: 0 });
  });
});
