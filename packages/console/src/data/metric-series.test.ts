import { parseCallQuery, type CallMetricsView, type MetricSeriesView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import {
  bucketTimes,
  countedTime,
  failedStates,
  failedShares,
  hasOnlyRefused,
  namedRefusals,
  percentilesIn,
  queryOfFailures,
  queryOfSeries,
  queryWithin,
  ratesOf,
  seriesValue,
  shareOfCalls,
  sharesOfCalls,
} from './metric-series.ts';

const times = { p50: 10, p95: 20, p99: 30, max: 40 };
const series: MetricSeriesView = {
  key: 'toy.echo',
  count: 5,
  failed: 2,
  outcomes: { COMPLETED: 3, FAILED: 1, REFUSED: 1 },
  codes: {},
  ran_ms: times,
  waited_ms: null,
  points: [
    { at: 600, count: 4, failed: 1, ran_ms: times, waited_ms: null },
    { at: 1200, count: 1, failed: 1, ran_ms: null, waited_ms: null },
  ],
};
const view: CallMetricsView = {
  since: 600,
  until: 1500,
  bucket_s: 300,
  by: 'tool',
  complete: true,
  series: [series],
  more: 0,
};

describe('the buckets of metrics', () => {
  it('without calls are zeros of rates, and gaps of shares and times', () => {
    expect(bucketTimes(view)).toEqual([600, 900, 1200]);
    expect(ratesOf(view, series, 1500)).toEqual([0.8, 0, 0.2]);
    expect(failedShares(view, series)).toEqual([25, null, 100]);
    expect(percentilesIn(view, series, 'ran_ms', 'p95')).toEqual([20, null, null]);
  });

  it('have the share of a series in all calls, of responses that were read one after the other too', () => {
    const all = { ...series, points: [{ ...series.points[0]!, count: 16 }] };
    expect(sharesOfCalls(view, series, all)).toEqual([25, null, 100]);
    expect(shareOfCalls(3, 2)).toBe(100);
    expect(shareOfCalls(0, 0)).toBeNull();
  });

  it('that have not passed have the rate of the time that has, of at least half of it', () => {
    expect(ratesOf(view, series, 1400)).toEqual([0.8, 0, 0.3]);
    expect(ratesOf(view, series, 1210)).toEqual([0.8, 0, 0.4]);
    expect(ratesOf(view, { ...series, points: [] }, 1210)).toEqual([0, 0, null]);
  });
});

describe('a bucket in which the time of a view begins', () => {
  const cut = { ...view, since: 780 };

  it('counts from there: its rate is that of the rest', () => {
    expect(countedTime(cut, 600)).toEqual({ from: 780, to: 900 });
    expect(countedTime(cut, 1200)).toEqual({ from: 1200, to: 1500 });
    expect(ratesOf({ ...view, since: 700 }, series, 1500)[0]).toBe(1.2);
    expect(ratesOf(cut, { ...series, points: [] }, 1500)).toEqual([null, 0, 0]);
  });
});

describe('the query of a series', () => {
  it.each([
    ['tool', 'a b', false, 'agent:x tool:"a b"'],
    ['tool', 'a', true, 'agent:x tool:a state:refused'],
    ['agent', 'y', false, 'agent:y'],
    ['outcome', 'TIMED_OUT', false, 'agent:x state:timed_out'],
    ['outcome', 'REFUSED', false, 'agent:x state:refused'],
    ['code', 'rate_limited', true, 'agent:x code:rate_limited state:refused'],
    ['code', '', false, 'agent:x state:completed,failed'],
    [null, '', false, 'agent:x'],
  ] as const)('by %s %s', (by, key, isRefused, query) => {
    expect(queryOfSeries('agent:x', by, { ...series, key }, isRefused)).toBe(query);
    expect(parseCallQuery(query, 0).ok).toBe(true);
  });

  it.each([
    ['tool', 'a b', { COMPLETED: 3, TIMED_OUT: 1, FAILED: 1 }, 'agent:x tool:"a b" state:timed_out,failed'],
    ['tool', 'a', { COMPLETED: 3, FAILED: 1, REFUSED: 1 }, 'agent:x tool:a state:failed'],
    ['tool', 'a', { COMPLETED: 3, REFUSED: 1 }, 'agent:x tool:a state:refused'],
    ['agent', 'y', { DENIED: 1 }, 'agent:y state:denied'],
    ['outcome', 'TIMED_OUT', { TIMED_OUT: 1 }, 'agent:x state:timed_out'],
    ['outcome', 'REFUSED', { REFUSED: 1 }, 'agent:x state:refused'],
    ['code', 'timeout', { TIMED_OUT: 1 }, 'agent:x code:timeout state:timed_out'],
    ['code', '', { COMPLETED: 3, CANCELLED: 1 }, 'agent:x state:cancelled'],
  ] as const)('for its failures, by %s %s of %j', (by, key, outcomes, query) => {
    expect(queryOfFailures('agent:x', by, { key, outcomes })).toBe(query);
    expect(parseCallQuery(query, 0).ok).toBe(true);
  });

  it('for its failures names the states that calls ended in', () => {
    expect(failedStates(series)).toEqual(['FAILED']);
    expect(failedStates({ outcomes: { COMPLETED: 1, REFUSED: 1 } })).toEqual([]);
  });

  it('covers the calls that ended in its time, although they began before', () => {
    const query = queryWithin('tool:a', 600, 900, { ran_ms: times, waited_ms: { ...times, max: 960 } });
    expect(parseCallQuery(query, 0)).toMatchObject({ ok: true, query: { since: 599_000, until: 900_000 } });
  });

  it('leads to refused requests if it has nothing else', () => {
    expect(hasOnlyRefused(series)).toBe(false);
    expect(hasOnlyRefused({ count: 2, outcomes: { REFUSED: 2 } })).toBe(true);
  });
});

it('sorts a table of series by name, counts, share and times', () => {
  const of = (column: string): unknown => seriesValue(series, column, 'Echo');
  expect(['name', 'total', 'rate', 'failed', 'share'].map(of)).toEqual(['Echo', 5, 5, 2, 40]);
  expect(['ran_p50', 'ran_max', 'waited_p95'].map(of)).toEqual([10, 40, null]);
});

describe('the refused requests of a series', () => {
  it('are named beside its calls, also if it has no others', () => {
    expect(namedRefusals('tool', series)).toBe(1);
    expect(namedRefusals('tool', { outcomes: { REFUSED: 8 } })).toBe(8);
    expect(namedRefusals('agent', { outcomes: { COMPLETED: 2 } })).toBe(0);
    expect(namedRefusals('outcome', { outcomes: { REFUSED: 8 } })).toBe(0);
  });
});
