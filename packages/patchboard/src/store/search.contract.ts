import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../core/call/call.ts';
import type { Store } from '../core/ports.ts';
import type { CallCriteria, CallSearch, CallSort, FoundCall } from '../core/search/call-search.ts';
import { aCall, anEntry, executing, insertAll, rowsOf } from './samples.contract.ts';
import { describeMetrics } from './search-metrics.contract.ts';
import { describeRefusals } from './search-refusals.contract.ts';
import { FIRST_HOUR, endedCalls, timesOfSample } from './search-samples.contract.ts';

export interface OpenedSearch {
  readonly store: Store;
  /** Resolves when the index contains every committed row. */
  readonly index: () => Promise<void>;
  readonly cleanup: () => Promise<void>;
}

/** The store of the test that is running. */
export interface SearchSubject {
  store: Store;
  search: CallSearch;
  index: () => Promise<void>;
}

const HOUR_MS = 3_600_000;
const TENANT = { tenant: 'acme' } as const;
const NEWEST: CallSort = { by: 'created', isAscending: false };

/** The contract tests of the `CallSearch` port, for any adapter. */
export function searchContract(name: string, open: () => Promise<OpenedSearch>): void {
  describe(`search of ${name}`, () => {
    const subject = {} as SearchSubject;
    let cleanup: () => Promise<void>;

    beforeEach(async () => {
      const opened = await open();
      if (opened.store.search === undefined) throw new Error('the store has no search');
      Object.assign(subject, { ...opened, search: opened.store.search });
      cleanup = opened.cleanup;
    });
    afterEach(async () => {
      await cleanup();
    });

    describeFind(subject);
    describeRuns(subject);
    describeRefusals(subject);
    describeMetrics(subject);
  });
}

async function pagesOf(
  search: CallSearch,
  criteria: CallCriteria,
  sort: CallSort,
  limit: number,
): Promise<FoundCall[]> {
  const found: FoundCall[] = [];
  for (;;) {
    const page = await search.find(criteria, sort, found.at(-1) ?? null, limit);
    expect(page.length).toBeLessThanOrEqual(limit);
    found.push(...page);
    if (page.length < limit) return found;
  }
}

function valueOf(call: Call, { by }: CallSort): number {
  return by === 'created' ? call.createdAt : timesOfSample(call)[by];
}

function sorted(calls: readonly Call[], sort: CallSort): FoundCall[] {
  const found = calls.map((call) => ({ id: call.id, value: valueOf(call, sort) }));
  found.sort((a, b) => a.value - b.value || (a.id < b.id ? -1 : 1));
  return sort.isAscending ? found : found.reverse();
}

function hasText(call: Call, ...words: string[]): boolean {
  return words.every((word) => call.argsJson.includes(word));
}

type Criteria = Omit<CallCriteria, 'tenant'>;

/** All criteria but the tenant: one that is missing here does not compile, and each has a case. */
const CRITERIA: Readonly<Record<keyof Criteria, true>> = {
  runId: true,
  toolName: true,
  agentId: true,
  askedOrRunBy: true,
  states: true,
  since: true,
  until: true,
  tools: true,
  agents: true,
  codes: true,
  traceId: true,
  parentCallId: true,
  clientId: true,
  waitedMs: true,
  ranMs: true,
  totalMs: true,
  texts: true,
};

/** Criteria, without the tenant, with what they mean. */
const CASES: readonly [Criteria, (call: Call) => boolean][] = [
  [{}, () => true],
  [{ runId: 'run_3' }, ({ runId }) => runId === 'run_3'],
  [{ toolName: 'fs.read' }, ({ toolName }) => toolName === 'fs.read'],
  [{ agentId: 'planner' }, ({ agentId }) => agentId === 'planner'],
  [{ states: ['FAILED', 'TIMED_OUT'] }, ({ state }) => ['FAILED', 'TIMED_OUT'].includes(state.name)],
  [{ states: [] }, () => false],
  [{ states: ['EXECUTING'] }, () => false],
  [{ since: FIRST_HOUR + HOUR_MS }, ({ createdAt }) => createdAt >= FIRST_HOUR + HOUR_MS],
  [{ until: FIRST_HOUR + HOUR_MS }, ({ createdAt }) => createdAt < FIRST_HOUR + HOUR_MS],
  [
    { askedOrRunBy: { agentId: 'worker-1', clientId: 'phone-2' } },
    ({ agentId, clientId }) => agentId === 'worker-1' || clientId === 'phone-2',
  ],
  [{ askedOrRunBy: { agentId: 'worker-1', clientId: null } }, ({ agentId }) => agentId === 'worker-1'],
  [{ askedOrRunBy: { agentId: 'stranger', clientId: null } }, () => false],
  [
    { askedOrRunBy: { agentId: 'worker-1', clientId: 'phone-2' }, agentId: 'planner' },
    ({ agentId, clientId }) => agentId === 'planner' && clientId === 'phone-2',
  ],
  [{ tools: { any: ['weather.*'], none: [] } }, ({ toolName }) => toolName.startsWith('weather.')],
  [
    { tools: { any: ['fs.*', 'camera.take'], none: ['*.delete'] } },
    ({ toolName }) => toolName === 'fs.read' || toolName === 'camera.take',
  ],
  [{ tools: { any: [], none: ['*e*'] } }, ({ toolName }) => !toolName.includes('e')],
  [{ tools: { any: ['100%_*'], none: [] } }, ({ toolName }) => toolName === '100%_sure'],
  [{ tools: { any: ['?eather.query', '1__%sure', '[fs].read'], none: [] } }, () => false],
  [{ agents: { any: ['worker-*'], none: ['worker-2'] } }, ({ agentId }) => /-[01]$/.test(agentId)],
  [{ codes: { any: ['time*'], none: [] } }, ({ state }) => state.name === 'TIMED_OUT'],
  [{ codes: { any: ['*'], none: [] } }, ({ state }) => state.name !== 'COMPLETED'],
  [{ codes: { any: [], none: ['timeout'] } }, ({ state }) => state.name !== 'TIMED_OUT'],
  [{ codes: { any: [], none: ['*'] } }, ({ state }) => state.name === 'COMPLETED'],
  [{ traceId: 'a'.repeat(32) }, ({ traceId }) => traceId !== null],
  [{ parentCallId: 'tc_00000001' }, ({ parentCallId }) => parentCallId !== null],
  [{ clientId: 'phone-2' }, ({ clientId }) => clientId === 'phone-2'],
  [{ clientId: 'phone-9' }, () => false],
  [{ waitedMs: { atLeast: 300 } }, (call) => timesOfSample(call).waited >= 300],
  [{ ranMs: { below: 2000 } }, (call) => timesOfSample(call).ran < 2000],
  [
    { totalMs: { atLeast: 1000, below: 30_000 } },
    (call) => timesOfSample(call).total >= 1000 && timesOfSample(call).total < 30_000,
  ],
  [{ texts: ['OSLO'] }, (call) => hasText(call, 'Oslo')],
  [{ texts: ['in the north'] }, (call) => hasText(call, 'Oslo')],
  [{ texts: ['north and'] }, (call) => hasText(call, 'Oslo')],
  [{ texts: ['north weather'] }, (call) => hasText(call, 'Bergen')],
  [{ texts: ['weather north'] }, () => false],
  [{ texts: ['weather', 'north'] }, (call) => hasText(call, 'weather', 'north')],
  [{ texts: ['Osl'] }, () => false],
  [{ texts: ['天下雨'] }, (call) => hasText(call, '北京')],
  [{ texts: ['下天'] }, () => false],
  [{ texts: ['report 2026 PDF'] }, (call) => hasText(call, 'Report-2026.pdf')],
  [{ texts: ['read-only', '"tmp" report'] }, (call) => hasText(call, 'Report')],
  [{ texts: ['CAFE\u0301'] }, (call) => hasText(call, 'café')],
  [
    {
      tools: { any: ['*.*'], none: ['fs.delete'] },
      states: ['COMPLETED', 'FAILED'],
      ranMs: { atLeast: 100 },
      texts: ['weather'],
      since: FIRST_HOUR + HOUR_MS / 2,
      until: FIRST_HOUR + 2 * HOUR_MS,
      askedOrRunBy: { agentId: 'planner', clientId: 'phone-1' },
    },
    (call) =>
      call.toolName.includes('.') &&
      call.toolName !== 'fs.delete' &&
      ['COMPLETED', 'FAILED'].includes(call.state.name) &&
      timesOfSample(call).ran >= 100 &&
      hasText(call, 'weather') &&
      call.createdAt >= FIRST_HOUR + HOUR_MS / 2 &&
      call.createdAt < FIRST_HOUR + 2 * HOUR_MS &&
      (call.agentId === 'planner' || call.clientId === 'phone-1'),
  ],
];

function describeFind(subject: SearchSubject): void {
  describe('find', () => {
    it('is tested with every criterion', () => {
      const tested = CASES.flatMap(([criteria]) => Object.keys(criteria));
      expect(Object.keys(CRITERIA).filter((name) => !tested.includes(name))).toEqual([]);
    });

    it('returns exactly the ended calls that match each criterion, in every order', async () => {
      const calls = endedCalls(180);
      await insertAll(subject.store, calls);
      await subject.index();
      const sorts = (['created', 'waited', 'ran', 'total'] as const).flatMap((by) => [
        { by, isAscending: true },
        { by, isAscending: false },
      ]);
      for (const [index, [criteria, isMeant]] of CASES.entries()) {
        const meant = calls.filter((call) => call.tenant === 'acme' && isMeant(call));
        // Each criterion with two orders: together they have all of them many times.
        for (const sort of [sorts[index % sorts.length]!, sorts[(index * 3 + 1) % sorts.length]!])
          expect(
            await pagesOf(subject.search, { ...TENANT, ...criteria }, sort, 17),
            JSON.stringify([criteria, sort]),
          ).toEqual(sorted(meant, sort));
      }
    });

    it('returns calls with the same value in order of their ids, also across pages', async () => {
      const calls = endedCalls(40).map((call) => ({ ...call, tenant: 'acme', createdAt: FIRST_HOUR }));
      await insertAll(subject.store, calls);
      await subject.index();
      for (const isAscending of [true, false]) {
        const sort: CallSort = { by: 'created', isAscending };
        expect(await pagesOf(subject.search, TENANT, sort, 7)).toEqual(sorted(calls, sort));
      }
    });

    it('contains a call only after it has ended', async () => {
      const { store, search } = subject;
      const [done] = endedCalls(2).slice(1) as [Call];
      const open = { ...done, ...executing(aCall(2, { createdAt: done.createdAt })), tenant: 'acme' };
      await insertAll(store, [open]);
      await subject.index();
      expect(await search.find(TENANT, NEWEST, null, 10)).toEqual([]);
      await store.replaceCall(
        { ...done, version: open.version + 1 },
        open.version,
        rowsOf(done, done.timeline.length - 1),
      );
      await subject.index();
      expect(await search.find(TENANT, NEWEST, null, 10)).toEqual([{ id: done.id, value: done.createdAt }]);
    });
  });

  describe('position', () => {
    it('is that of the newest committed row, whatever its kind', async () => {
      const { store, search } = subject;
      expect(await search.position()).toBe(0);
      await insertAll(store, endedCalls(3));
      await subject.index();
      expect(await search.position()).toBe((await store.ledgerHead()).seq);
      await store.append([anEntry()]);
      await subject.index();
      expect(await search.position()).toBe((await store.ledgerHead()).seq);
    });
  });

  describe('runTotals', () => {
    it('counts the ended calls of each run by state, with the last end', async () => {
      const calls = endedCalls(90);
      await insertAll(subject.store, [...calls, aCall(1000, { runId: 'run_open' })]);
      await subject.index();
      const ids = ['run_0', 'run_3', 'run_open', 'run_unknown'];
      const found = await subject.search.runTotals('acme', ids);
      expect([...found.keys()].sort()).toEqual(['run_0', 'run_3']);
      for (const [id, totals] of found) {
        const own = calls.filter(({ tenant, runId }) => tenant === 'acme' && runId === id);
        expect(totals.byState).toEqual(countBy(own.map(({ state }) => state.name)));
        expect(totals.lastEndedAt).toBe(
          Math.max(...own.map((call) => call.createdAt + timesOfSample(call).total)),
        );
      }
      expect(await subject.search.runTotals('acme', [])).toEqual(new Map());
    });
  });
}

function describeRuns(subject: SearchSubject): void {
  describe('runsWithCalls', () => {
    it('returns the runs of the ended calls in these states, unless there are too many of them', async () => {
      const calls = endedCalls(90);
      await insertAll(subject.store, [...calls, aCall(1000, { runId: 'run_open' })]);
      await subject.index();
      const { search } = subject;
      for (const states of [['FAILED'], ['FAILED', 'TIMED_OUT'], ['COMPLETED'], ['PENDING']] as const) {
        const own = calls.filter(
          ({ tenant, state }) => tenant === 'acme' && states.some((name) => name === state.name),
        );
        const runs = [...new Set(own.map(({ runId }) => runId))].sort();
        expect((await search.runsWithCalls('acme', states, own.length))?.toSorted()).toEqual(runs);
        if (own.length > 0) expect(await search.runsWithCalls('acme', states, own.length - 1)).toBeNull();
      }
      expect(await search.runsWithCalls('nobody', ['FAILED'], 10)).toEqual([]);
    });
  });
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
