import type { OutcomeName } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import type { Call } from '../core/call/call.ts';
import type { MetricCell, MetricsCriteria } from '../core/search/call-search.ts';
import { histogramOf } from '../core/search/histogram.ts';
import { seriesOf } from '../core/search/metric-series.ts';
import { insertAll } from './samples.contract.ts';
import type { SearchSubject } from './search.contract.ts';
import { FIRST_HOUR, endedCalls, refusedRows, timesOfSample } from './search-samples.contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** An ended call or a refused request. */
interface Counted {
  readonly at: number;
  readonly tenant: string;
  readonly toolName: string;
  readonly agentId: string;
  readonly outcome: OutcomeName;
  readonly code: string | null;
  readonly count: number;
  readonly waitedMs: readonly number[];
  readonly ranMs: readonly number[];
}

function countedCall(call: Call): Counted {
  const { tenant, toolName, agentId, createdAt, state } = call;
  const { total, waited, ran, hasRun } = timesOfSample(call);
  return {
    at: createdAt + total,
    tenant,
    toolName,
    agentId,
    outcome: state.name,
    code: 'error' in state ? state.error.code : null,
    count: 1,
    waitedMs: [waited],
    ranMs: hasRun ? [ran] : [],
  };
}

function countedRefusals(): Counted[] {
  return refusedRows(30).map(({ at, tenant, body: json }) => {
    const body = JSON.parse(json);
    const count = 1 + (body.unrecorded ?? 0);
    const names = { tenant, toolName: body.tool_name, agentId: body.agent_id, code: body.code };
    return { at, ...names, outcome: 'REFUSED', count, waitedMs: [], ranMs: [] };
  });
}

function keyOf(one: Counted, by: MetricsCriteria['by']): string {
  if (by === null) return '';
  return { tool: one.toolName, agent: one.agentId, outcome: one.outcome, code: one.code ?? '' }[by];
}

function expectedCells(all: readonly Counted[], criteria: MetricsCriteria): MetricCell[] {
  const { since, until, stepMs, by } = criteria;
  const groups = new Map<string, Counted[]>();
  for (const one of all) {
    if (one.at < since || one.at >= until) continue;
    const at = Math.floor(one.at / stepMs) * stepMs;
    const name = JSON.stringify([at, keyOf(one, by), one.outcome, one.code]);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups].map(([name, own]) => {
    const [at, key, outcome, code] = JSON.parse(name);
    const count = own.reduce((sum, one) => sum + one.count, 0);
    const waited = histogramOf(own.flatMap(({ waitedMs }) => waitedMs));
    const ran = histogramOf(own.flatMap(({ ranMs }) => ranMs));
    return { at, key, outcome, code, count, waited, ran };
  });
}

/** Filters, with what they mean. */
const FILTERS: readonly [Partial<MetricsCriteria>, (one: Counted) => boolean][] = [
  [{}, ({ tenant }) => tenant === 'acme'],
  [{ tenant: null }, () => true],
  [{ agentId: 'planner' }, ({ tenant, agentId }) => tenant === 'acme' && agentId === 'planner'],
  [
    { tools: { any: ['weather.*'], none: ['*.alerts'] } },
    ({ tenant, toolName }) => tenant === 'acme' && toolName === 'weather.query',
  ],
  [
    { agents: { any: [], none: ['worker-*'] } },
    ({ tenant, agentId }) => tenant === 'acme' && !agentId.startsWith('worker-'),
  ],
];

export function describeMetrics(subject: SearchSubject): void {
  describe('metrics', () => {
    it('counts ended calls and refused requests per minute, hour and longer, by each group', async () => {
      const calls = endedCalls(180);
      await insertAll(subject.store, calls);
      await subject.store.append(refusedRows(30));
      await subject.index();
      const all = [...calls.map(countedCall), ...countedRefusals()];
      const steps = [
        [MINUTE_MS, FIRST_HOUR + 30 * MINUTE_MS, FIRST_HOUR + 90 * MINUTE_MS],
        [5 * MINUTE_MS, FIRST_HOUR, FIRST_HOUR + 4 * HOUR_MS],
        [30 * MINUTE_MS, FIRST_HOUR + HOUR_MS, FIRST_HOUR + 4 * HOUR_MS],
        [HOUR_MS, FIRST_HOUR, FIRST_HOUR + 2 * HOUR_MS],
        // Times that begin and end inside a bucket.
        [30 * MINUTE_MS, FIRST_HOUR + 17 * MINUTE_MS, FIRST_HOUR + 151 * MINUTE_MS],
        [30 * MINUTE_MS, FIRST_HOUR + 32 * MINUTE_MS, FIRST_HOUR + 41 * MINUTE_MS],
        [6 * HOUR_MS, FIRST_HOUR + HOUR_MS, FIRST_HOUR + 3 * HOUR_MS],
        [24 * HOUR_MS, startOfDay(FIRST_HOUR), startOfDay(FIRST_HOUR) + 48 * HOUR_MS],
      ] as const;
      for (const by of [null, 'tool', 'agent', 'outcome', 'code'] as const)
        for (const [stepMs, since, until] of steps)
          for (const [filter, isMeant] of FILTERS) {
            const criteria: MetricsCriteria = { tenant: 'acme', since, until, stepMs, by, ...filter };
            const expected = expectedCells(all.filter(isMeant), criteria);
            expect(await subject.search.metrics(criteria, 100), JSON.stringify(criteria)).toEqual(
              seriesOf(expected, 100),
            );
          }
    });

    it('returns the largest series, and the number of the others', async () => {
      const calls = endedCalls(180);
      await insertAll(subject.store, calls);
      await subject.index();
      const hours = { since: FIRST_HOUR, until: FIRST_HOUR + 4 * HOUR_MS, stepMs: HOUR_MS };
      for (const by of ['tool', 'agent', 'code'] as const)
        for (const limit of [1, 2, 3]) {
          const criteria: MetricsCriteria = { tenant: 'acme', ...hours, by };
          const own = calls.filter(({ tenant }) => tenant === 'acme').map(countedCall);
          const found = await subject.search.metrics(criteria, limit);
          expect(found.series).toHaveLength(limit);
          expect(found).toEqual(seriesOf(expectedCells(own, criteria), limit));
        }
    });
  });
}

function startOfDay(at: number): number {
  return Math.floor(at / (24 * HOUR_MS)) * 24 * HOUR_MS;
}
