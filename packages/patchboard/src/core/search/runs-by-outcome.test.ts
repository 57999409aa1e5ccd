import { RUN_OUTCOMES, type RunOutcomeName } from '@patchboard/wire';
import { describe, expect, it, vi } from 'vitest';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { aCall, aRun, anEntry, completed, digest, failed, insertAll } from '../../store/samples.contract.ts';
import type { Call } from '../call/call.ts';
import type { CallSearch } from './call-search.ts';
import { runsByOutcome, SCANNED_RUNS, type RunListPage } from './runs-by-outcome.ts';

const TENANT = 'acme';
const NO_OPEN_CALLS = {
  lifecycle: { all: (): { readonly call: Call }[] => [] },
  clock: { elapsed: () => 0, after: () => () => {} },
  indexAwaited: () => {},
};

/** Lists from a store in memory, in which all open calls are live. */
async function aList(calls: readonly Call[]) {
  const store = memoryStore({ digest });
  await insertAll(store, calls);
  const runTotals = vi.spyOn(store.search!, 'runTotals');
  const counted = (): number[] => runTotals.mock.calls.map(([, ids]) => ids.length);
  const live: { readonly call: Call }[] = [];
  for await (const call of store.openCalls()) live.push({ call });
  const parts = { ...NO_OPEN_CALLS, store, lifecycle: { all: () => live } };
  const page = (outcome: RunOutcomeName, cursor: string | null, limit: number, filter = {}) =>
    runsByOutcome(parts, { filter: { tenant: TENANT, ...filter }, outcome, cursor, limit });
  return { store, counted, page };
}

async function allOf(read: (cursor: string | null) => Promise<RunListPage>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await read(cursor);
    ids.push(...page.items.map(({ run }) => run.id));
    cursor = page.nextCursor;
    if (cursor === null) return ids;
  }
}

const runOf = (n: number): string => `run_${String(n).padStart(6, '0')}`;

describe('runs by outcome', () => {
  it('are the runs whose calls have it now, newest first, on pages of any size', async () => {
    const calls: Call[] = [];
    const expected: Record<RunOutcomeName, string[]> = {
      running: [],
      completed: [],
      failed: [],
      cancelled: [],
      empty: [],
    };
    const cancelled: string[] = [];
    for (let n = 1; n <= 60; n += 1) {
      const runId = runOf(n);
      const own = (place: number): Call => aCall(n * 10 + place, { runId });
      const isCancelled = n % 5 === 0;
      if (isCancelled) cancelled.push(runId);
      calls.push(completed(own(1)));
      if (n % 3 === 0) calls.push(failed(own(2)));
      if (n % 7 === 0) calls.push(own(3));
      const ended = n % 3 === 0 ? 'failed' : 'completed';
      const outcome = n % 7 === 0 ? 'running' : isCancelled ? 'cancelled' : ended;
      expected[outcome].unshift(runId);
    }
    const { store, page } = await aList(calls);
    for (const id of cancelled) await store.cancelRun(TENANT, id, 1, anEntry());
    await store.ensureRun(aRun({ id: 'run_empty' }), anEntry());
    await store.ensureRun(aRun({ id: 'run_elsewhere', tenant: 'other' }), anEntry());
    expected.empty.push('run_empty');

    for (const outcome of RUN_OUTCOMES)
      for (const limit of [1, 3, 200])
        expect(await allOf((cursor) => page(outcome, cursor, limit)), `${outcome} ${limit}`).toEqual(
          expected[outcome],
        );
    const [first] = (await page('failed', null, 1)).items;
    expect(first?.calls).toMatchObject({ total: 2, open: 0, failed: 1 });
    expect((await page('failed', null, 5, { agentId: 'nobody' })).items).toEqual([]);
  });

  it('are counted only if they can have it, where the calls tell that', async () => {
    const calls = Array.from({ length: 300 }, (_, index) => {
      const call = aCall(index + 1, { runId: runOf(index) });
      if (index === 20) return failed(call);
      return index === 30 ? call : completed(call);
    });
    const { counted, page } = await aList(calls);
    expect((await page('failed', null, 50)).items.map(({ run }) => run.id)).toEqual([runOf(20)]);
    expect((await page('running', null, 50)).items.map(({ run }) => run.id)).toEqual([runOf(30)]);
    expect(counted()).toEqual([1, 1]);
    expect(await page('cancelled', null, 50)).toEqual({ items: [], nextCursor: null, isComplete: true });
    expect(counted()).toEqual([1, 1]);
  });

  it('end a page after a number of runs, and continue on the next one', async () => {
    let counted = 0;
    const count = SCANNED_RUNS + 5000;
    const store = {
      ledgerHead: async () => ({ seq: 1, hash: '' }),
      listRuns: async (_filter: unknown, cursor: string | null, limit: number) => {
        const newest = cursor === null ? count : Number(cursor) - 1;
        const items = Array.from({ length: Math.min(limit, newest) }, (_, index) => {
          const n = newest - index;
          return { ...aRun({ id: runOf(n) }), cursor: String(n) };
        });
        return { items, nextCursor: newest > limit ? (items.at(-1)?.cursor ?? null) : null };
      },
      search: {
        position: async () => 1,
        // Every run but the oldest has a call.
        runTotals: async (_tenant: string, ids: readonly string[]) => {
          counted += ids.length;
          const full = ids.filter((id) => id !== runOf(1));
          return new Map(full.map((id) => [id, { byState: { COMPLETED: 1 }, lastEndedAt: 1 }]));
        },
      } as unknown as CallSearch,
    };
    const parts = { ...NO_OPEN_CALLS, store };
    const page = (cursor: string | null): Promise<RunListPage> =>
      runsByOutcome(parts, { filter: { tenant: TENANT }, outcome: 'empty', cursor, limit: 10 });
    const first = await page(null);
    expect(first.items).toEqual([]);
    expect(counted).toBeGreaterThanOrEqual(SCANNED_RUNS);
    expect(first.nextCursor).toBe(String(count - counted + 1));
    const next = await page(first.nextCursor);
    expect(next).toMatchObject({ items: [{ run: { id: runOf(1) } }], nextCursor: null });
    expect(counted).toBe(count);
  });
});
