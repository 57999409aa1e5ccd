import type { CallStateName } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { isOpen, type Call } from '../core/call/call.ts';
import { BadCursor, type CallFilter, type RunFilter, type Store } from '../core/ports.ts';
import { openByRun, type OpenOfRuns } from '../core/search/run-calls.ts';
import type { Subject } from './store.contract.ts';
import {
  START,
  aCall,
  aRun,
  anEntry,
  askingForInput,
  callId,
  completed,
  executing,
  failed,
  idsOf,
  insertAll,
  rowsOf,
  withoutCursors,
} from './samples.contract.ts';

/** Calls that differ in every field that a filter can use, with different periods. */
function mixedCalls(count: number): Call[] {
  return Array.from({ length: count }, (_, index) => {
    const call = aCall(index + 1, {
      tenant: index % 7 === 0 ? 'other' : 'acme',
      agentId: index % 2 === 0 ? 'agent-1' : 'agent-2',
      clientId: index % 4 === 0 ? `phone-${index % 3}` : null,
      runId: `run_${index % 2}_${index % 3}`,
      toolName: index % 5 === 0 ? 'fs.read' : 'weather.query',
    });
    return [call, executing(call), completed(call), failed(call), completed(call)][index % 5]!;
  });
}

function matches(call: Call, filter: CallFilter): boolean {
  return (
    call.tenant === filter.tenant &&
    (filter.runId ?? call.runId) === call.runId &&
    (filter.toolName ?? call.toolName) === call.toolName &&
    (filter.agentId ?? call.agentId) === call.agentId &&
    isParty(call, filter.askedOrRunBy) &&
    (filter.states ?? [call.state.name]).includes(call.state.name) &&
    call.createdAt >= (filter.since ?? 0) &&
    call.createdAt < (filter.until ?? Infinity)
  );
}

function isParty(call: Call, party: CallFilter['askedOrRunBy']): boolean {
  if (party === undefined || call.agentId === party.agentId) return true;
  return party.clientId !== null && call.clientId === party.clientId;
}

async function allPages(store: Store, filter: CallFilter, limit: number): Promise<Call[]> {
  const found: Call[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.listCalls(filter, cursor, limit);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

export function describeLists(subject: Subject): void {
  describe('listCalls', () => {
    const filters: CallFilter[] = [
      { tenant: 'acme' },
      { tenant: 'nobody' },
      { tenant: 'acme', runId: 'run_0_0' },
      { tenant: 'acme', runId: 'run_nobody' },
      { tenant: 'acme', toolName: 'fs.read' },
      { tenant: 'acme', agentId: 'agent-2' },
      { tenant: 'acme', askedOrRunBy: { agentId: 'agent-2', clientId: 'phone-1' } },
      { tenant: 'acme', askedOrRunBy: { agentId: 'nobody', clientId: 'phone-2' }, runId: 'run_0_2' },
      { tenant: 'acme', askedOrRunBy: { agentId: 'nobody', clientId: null } },
      { tenant: 'acme', askedOrRunBy: { agentId: 'nobody', clientId: 'phone-1' }, states: ['FAILED'] },
      { tenant: 'acme', askedOrRunBy: { agentId: 'agent-2', clientId: 'phone-1' }, agentId: 'agent-1' },
      { tenant: 'acme', states: ['COMPLETED'] },
      { tenant: 'acme', states: ['FAILED'] },
      { tenant: 'acme', states: ['PENDING', 'EXECUTING', 'FAILED', 'FAILED'] },
      { tenant: 'acme', states: ['COMPLETED', 'FAILED'] },
      { tenant: 'acme', states: [] },
      { tenant: 'acme', since: START + 60 },
      { tenant: 'acme', until: START + 60 },
      { tenant: 'acme', since: START + 20, until: START + 60, states: ['COMPLETED'] },
      { tenant: 'acme', runId: 'run_1_2', until: START + 60 },
      { tenant: 'acme', since: START + 60, agentId: 'agent-1', toolName: 'fs.read' },
      { tenant: 'acme', runId: 'run_1_2', states: ['FAILED', 'PENDING'], since: START + 20 },
      { tenant: 'acme', states: ['FAILED'], toolName: 'weather.query', agentId: 'agent-2', since: START + 9 },
    ];

    it('returns exactly the matches of each filter, newest first, page by page', async () => {
      const calls = mixedCalls(120);
      await insertAll(subject.store, calls);
      for (const filter of filters) {
        const expected = calls.filter((call) => matches(call, filter)).reverse();
        const smallest = expected.length > 20 ? 5 : 1;
        for (const limit of [smallest, 7, Math.max(1, expected.length), 500])
          expect(await allPages(subject.store, filter, limit), JSON.stringify(filter)).toEqual(expected);
      }
    });

    it('has no cursor at the end, also when the last page is full', async () => {
      await insertAll(subject.store, [aCall(1), aCall(2)]);
      expect((await subject.store.listCalls({ tenant: 'acme' }, null, 2)).nextCursor).toBeNull();
      expect((await subject.store.listCalls({ tenant: 'acme' }, null, 1)).nextCursor).not.toBeNull();
    });

    it('ends a page early if its calls are large, and continues with the next one', async () => {
      const megabyte = JSON.stringify('x'.repeat(1_048_576));
      const calls = Array.from({ length: 12 }, (_, at) =>
        completed(aCall(at + 1, at % 2 === 0 ? { argsJson: megabyte } : {}), START, megabyte),
      );
      await insertAll(subject.store, calls);
      for (const filter of [{ tenant: 'acme' }, { tenant: 'acme', runId: calls[0]!.runId }]) {
        const first = await subject.store.listCalls(filter, null, 200);
        expect(first.items.length).toBeLessThanOrEqual(8);
        expect(first.nextCursor).toBe(first.items.at(-1)?.id);
        const all = await allPages(subject.store, filter, 200);
        expect(idsOf(all)).toEqual(idsOf(calls.toReversed()));
      }
    });

    it('continues at the same place when calls arrive or are purged between pages', async () => {
      const { store } = subject;
      await insertAll(store, [completed(aCall(1)), aCall(2), completed(aCall(3)), aCall(4)]);
      const first = await store.listCalls({ tenant: 'acme' }, null, 2);
      await insertAll(store, [aCall(5)]);
      await store.purgeCalls(START + 100, 10);
      const second = await store.listCalls({ tenant: 'acme' }, first.nextCursor, 2);
      expect([idsOf(first.items), idsOf(second.items)]).toEqual([[4, 3].map(callId), [callId(2)]]);
    });

    it('refuses a cursor that it did not hand out', async () => {
      for (const cursor of ['', 'nonsense', "tc_' or 1=1", 'tc_', `tc_${'a'.repeat(100)}`, 'tc_ü'])
        await expect(subject.store.listCalls({ tenant: 'acme' }, cursor, 10), cursor).rejects.toThrow(
          BadCursor,
        );
    });
  });

  describe('openCalls', () => {
    it('returns the calls that have not ended, oldest first', async () => {
      const { store } = subject;
      const calls = mixedCalls(50);
      await insertAll(store, calls);
      const open = calls.filter(isOpen);
      const done = completed(aCall(1, { tenant: 'other', runId: 'run_0_0', toolName: 'fs.read' }));
      await store.replaceCall(done, 1, rowsOf(done, 1), false);
      const found: Call[] = [];
      for await (const call of store.openCalls()) found.push(call);
      expect(found).toEqual(open.slice(1));
    });

    it('returns the open calls of a tenant, of one run or of one client', async () => {
      const { store } = subject;
      const calls = mixedCalls(120);
      await insertAll(store, calls);
      const filters = [
        { tenant: 'acme' },
        { tenant: 'acme', runId: 'run_1_1' },
        { tenant: 'acme', clientId: 'phone-2' },
        { tenant: 'other', runId: 'run_1_1', clientId: 'phone-1' },
        { tenant: 'acme', clientId: 'phone-9' },
      ];
      for (const filter of filters) {
        const found: Call[] = [];
        for await (const call of store.openCalls(filter)) found.push(call);
        const expected = calls.filter(
          (call) =>
            isOpen(call) && matches(call, filter) && (filter.clientId ?? call.clientId) === call.clientId,
        );
        expect(found, JSON.stringify(filter)).toEqual(expected);
      }
    });

    it('omits a call that ends during the iteration', async () => {
      const { store } = subject;
      await insertAll(store, [aCall(1), aCall(2), aCall(3)]);
      const found: Call[] = [];
      for await (const call of store.openCalls()) {
        found.push(call);
        const done = completed(aCall(2));
        await store.replaceCall(done, 1, rowsOf(done, 1), false);
      }
      expect(idsOf(found)).toEqual([1, 3].map(callId));
    });
  });

  describe('countOpenOfRuns, or what replaces it', () => {
    it('counts the open calls of runs of one tenant by state', async () => {
      const { store } = subject;
      // Only a store that several nodes share can have open calls that are not in the memory of this process.
      if (store.changes !== undefined) expect(store.countOpenOfRuns === undefined).toBe(false);
      const calls = mixedCalls(120);
      const asking = askingForInput(aCall(500, { runId: 'run_asking' }));
      await insertAll(store, [...calls, asking]);
      const ended = calls.find((call) => isOpen(call) && call.tenant === 'acme' && call.version === 1)!;
      const done = completed(ended);
      await store.replaceCall(done, 1, rowsOf(done, 1), false);
      const open = [...calls.filter((call) => isOpen(call) && call !== ended), asking];
      const live: { readonly call: Call }[] = [];
      for await (const call of store.openCalls()) live.push({ call });
      const count = (tenant: string, ids: readonly string[] | null): Promise<OpenOfRuns> =>
        openByRun({ store, lifecycle: { all: () => live } }, tenant, ids);

      for (const tenant of ['acme', 'other', 'nobody']) {
        const all = countsByRun(open.filter((call) => call.tenant === tenant));
        expect(await count(tenant, null)).toEqual(all);
        for (const ids of [[...all.keys()].slice(0, 2), ['run_asking', 'run_unknown', 'run_asking'], []])
          expect(await count(tenant, ids)).toEqual(new Map([...all].filter(([id]) => ids.includes(id))));
      }
      expect((await count('acme', null)).get('run_asking')).toEqual({ INPUT_REQUIRED: 1 });
    });
  });

  describe('listRuns', () => {
    it("returns the tenant's runs, newest first, page by page, optionally by agent and time", async () => {
      const { store } = subject;
      const runs = Array.from({ length: 30 }, (_, index) =>
        aRun({
          id: `run_${(index * 7) % 30}`,
          tenant: index % 4 === 0 ? 'other' : 'acme',
          agentId: index % 3 === 0 ? 'agent-1' : 'agent-2',
          createdAt: START + index,
        }),
      );
      for (const run of runs) await store.ensureRun(run, anEntry());
      const newest = runs.filter(({ tenant }) => tenant === 'acme').reverse();
      const filters: Omit<RunFilter, 'tenant'>[] = [
        {},
        ...['agent-1', 'agent-2', 'nobody'].map((agentId) => ({ agentId })),
        { since: START + 9 },
        { until: START + 9 },
        { since: START + 5, until: START + 23, agentId: 'agent-2' },
        { since: START + 9_000_000 },
        { ids: ['run_3', 'run_unknown', 'run_7', 'run_21', 'run_3'] },
        { ids: runs.map(({ id }) => id), agentId: 'agent-1', until: START + 20 },
        { ids: [] },
      ];
      for (const filter of filters) {
        const expected = newest.filter(
          (run) =>
            (filter.agentId ?? run.agentId) === run.agentId &&
            (filter.ids?.includes(run.id) ?? true) &&
            run.createdAt >= (filter.since ?? 0) &&
            run.createdAt < (filter.until ?? Infinity),
        );
        const found = [];
        let cursor: string | null = null;
        do {
          const page = await store.listRuns({ tenant: 'acme', ...filter }, cursor, 4);
          found.push(...page.items);
          cursor = page.nextCursor;
        } while (cursor !== null);
        expect(withoutCursors(found), JSON.stringify(filter)).toEqual(expected);
      }
    });

    it('continues after any run of a page, and lists the cancelled runs only', async () => {
      const { store } = subject;
      const ids = Array.from({ length: 9 }, (_, index) => `run_${index}`);
      for (const id of ids) await store.ensureRun(aRun({ id }), anEntry());
      for (const id of ['run_2', 'run_5', 'run_6']) await store.cancelRun('acme', id, START + 1, anEntry());
      const newest = ids.toReversed();
      const { items } = await store.listRuns({ tenant: 'acme' }, null, 9);
      expect(items.map(({ id }) => id)).toEqual(newest);
      for (const [index, { cursor }] of items.entries()) {
        const rest = await store.listRuns({ tenant: 'acme' }, cursor, 3);
        expect(rest.items.map(({ id }) => id)).toEqual(newest.slice(index + 1, index + 4));
      }
      const cancelled = await store.listRuns({ tenant: 'acme', isCancelled: true }, null, 2);
      expect(cancelled.items.map(({ id }) => id)).toEqual(['run_6', 'run_5']);
      const last = await store.listRuns({ tenant: 'acme', isCancelled: true }, cancelled.nextCursor, 2);
      expect(last).toMatchObject({ items: [{ id: 'run_2' }], nextCursor: null });
      const ofIds = { tenant: 'acme', ids: ['run_1', 'run_6'], isCancelled: true } as const;
      expect((await store.listRuns(ofIds, null, 5)).items.map(({ id }) => id)).toEqual(['run_6']);
    });

    it('refuses a cursor that it did not hand out', async () => {
      for (const cursor of ['', '0', '-1', '1.5', 'run_1', '99999999999999999999'])
        await expect(subject.store.listRuns({ tenant: 'acme' }, cursor, 10), cursor).rejects.toThrow(
          BadCursor,
        );
    });
  });
}

function countsByRun(calls: readonly Call[]): Map<string, Partial<Record<CallStateName, number>>> {
  const byRun = new Map<string, Partial<Record<CallStateName, number>>>();
  for (const { runId, state } of calls) {
    const counts = byRun.get(runId) ?? {};
    byRun.set(runId, { ...counts, [state.name]: (counts[state.name] ?? 0) + 1 });
  }
  return byRun;
}
