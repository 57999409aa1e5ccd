import { CALL_SORTS, isTerminal, parseCallQuery, type CallStateName } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { aPrincipal } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Principal } from '../access/principal.ts';
import { timesSoFar } from '../call/call-times.ts';
import { isOpen, type Call, type CallState } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import { maySeeCall } from '../call/visibility.ts';
import { BadCursor, type Store } from '../ports.ts';
import { CallLists, type CallListRequest } from './call-lists.ts';
import { matchesCriteria } from './criteria.ts';
import { searchedCall } from './indexed-rows.ts';
import { sortValue } from './sorted-calls.ts';

const NOW = 1_700_000_100_000;

const QUERIES = [
  'tool:a.*',
  'tool:a.one,b.two -agent:bob',
  'state:open ran>1s',
  'state:failed,executing total<40s',
  'code:timeout',
  '-code:timeout waited>0ms',
  'trace:t1',
  'parent:tc_parent run:run_ada',
  'client:phone state:open',
  'client:phone tool:a.*',
  'oslo',
  '"in oslo" since:90s',
  '',
];

const shape = fc.record({
  tenant: fc.constantFrom('default', 'default', 'other'),
  agentId: fc.constantFrom('ada', 'bob'),
  clientId: fc.option(fc.constantFrom('phone', 'bob')),
  toolName: fc.constantFrom('a.one', 'a.two', 'b.two'),
  traceId: fc.option(fc.constantFrom('t1', 't2')),
  parentCallId: fc.option(fc.constant('tc_parent')),
  argsJson: fc.constantFrom('{}', '{"city":"in Oslo"}', '{"city":"Oslo"}'),
  state: fc.constantFrom<CallStateName>('PENDING', 'EXECUTING', 'COMPLETED', 'FAILED'),
  // Few values, so that many calls are sorted by the same one.
  createdAt: fc.integer({ min: 1, max: 5 }).map((tens) => NOW - tens * 20_000),
  waitedMs: fc.constantFrom(0, 500, 1000),
  ranMs: fc.constantFrom(0, 2000, 60_000),
});

function callOf({
  state,
  waitedMs,
  ranMs,
  ...given
}: typeof shape extends fc.Arbitrary<infer S> ? S : never): Call {
  const startedAt = given.createdAt + waitedMs;
  const endedAt = startedAt + ranMs;
  const error = { code: 'timeout' as const, message: 'late', retryable: true };
  const states: Readonly<Partial<Record<CallStateName, CallState>>> = {
    PENDING: { name: 'PENDING', deadlineAt: NOW * 2 },
    EXECUTING: { name: 'EXECUTING', deadlineAt: NOW * 2, attempt: 1, cause: null },
    COMPLETED: { name: 'COMPLETED', resultJson: '1', resultDigest: null },
    FAILED: { name: 'FAILED', error, resultDigest: null },
  };
  return aCall({
    ...given,
    runId: `run_${given.agentId}`,
    state: states[state]!,
    timeline: [
      { state: 'PENDING', at: given.createdAt },
      ...(state === 'PENDING' ? [] : [{ state: 'EXECUTING' as const, at: startedAt, attempt: 1 }]),
      ...(isTerminal(state) ? [{ state, at: endedAt }] : []),
    ],
  });
}

interface ListsOverCalls {
  readonly lists: CallLists;
  readonly store: Store;
  readonly live: Map<string, Call>;
}

/**
 * `afterOpen` runs once, after the open calls of a page were read and before the ended ones are. `isSingle` false: the open calls
 * belong to another node.
 */
async function listsOver(
  calls: readonly Call[],
  afterOpen: (store: Store, live: Map<string, Call>) => Promise<void> = async () => {},
  isSingle = true,
): Promise<ListsOverCalls> {
  const store = memoryStore({ digest: nodeDigest });
  for (const call of calls) await insert(store, call);
  const live = new Map(calls.filter(isOpen).map((call) => [call.id, call]));
  const own = (): LiveCall[] => [...live.values()].map((call) => ({ call }) as LiveCall);
  const lifecycle = { all: () => (isSingle ? own() : []) };
  const runs = {
    find: async (principal: Principal, id: string) => await store.findRun(principal.tenant, id),
  };
  let isFirst = true;
  const watched = new Proxy(store, {
    get: (target, name) => {
      if (name === 'search') return target.search;
      const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      if (name === 'openCalls') return method.bind(target);
      return async (...args: unknown[]) => {
        if (name === 'ledgerHead' && isFirst) {
          isFirst = false;
          await afterOpen(store, live);
        }
        return await (Reflect.apply(method, target, args) as Promise<unknown>);
      };
    },
  });
  const clock = new FakeClock();
  const parts = { store: watched, peers: { isSingle }, lifecycle, clock, runs };
  return { lists: new CallLists({ ...parts, indexAwaited: () => {} }), store, live };
}

function endedForm(call: Call): Call {
  const done: CallState = { name: 'COMPLETED', resultJson: '1', resultDigest: null };
  const timeline = [...call.timeline, { state: done.name, at: NOW + 5000 }];
  return { ...call, version: call.version + 1, state: done, timeline };
}

async function insert(store: Store, call: Call): Promise<void> {
  const { tenant, agentId, createdAt } = call;
  const run = { id: call.runId, tenant, agentId, createdAt, cancelledAt: null };
  await store.insertCall({ call, run, idempotency: null, entries: [] });
}

function requestOf(text: string, sort: CallListRequest['sort'], limit: number): CallListRequest {
  const parsed = parseCallQuery(text, NOW, 'calls');
  if (!parsed.ok) throw new Error(`bad query: ${text}`);
  return { filter: {}, query: parsed.query, sort, cursor: null, limit, startedAt: NOW };
}

/** All pages; `between` runs after each of them. */
async function allPages(
  lists: CallLists,
  principal: Principal,
  request: CallListRequest,
  between: () => void | Promise<void> = () => {},
): Promise<Call[]> {
  const found: Call[] = [];
  let { cursor } = request;
  do {
    const page = await lists.list(principal, { ...request, cursor });
    expect(page.isComplete).toBe(true);
    expect(page.items.length).toBeLessThanOrEqual(request.limit);
    found.push(...page.items);
    if (found.length > 1000) throw new Error('the list has no end');
    cursor = page.nextCursor;
    await between();
  } while (cursor !== null);
  return found;
}

/** What the list should be: every call compared on its own, sorted as a whole. */
function expected(calls: readonly Call[], principal: Principal, { query, sort }: CallListRequest): string[] {
  const { isRefused: _refused, ...wanted } = query;
  const criteria = { ...wanted, tenant: principal.tenant };
  const value = (call: Call): number => sortValue(call, sort, NOW);
  const direction = sort.isAscending ? 1 : -1;
  return calls
    .filter((call) => maySeeCall(principal, call))
    .filter((call) => matchesCriteria({ ...searchedCall(call), ...timesSoFar(call, NOW) }, criteria))
    .toSorted((a, b) => direction * (value(a) - value(b) || (a.id < b.id ? -1 : 1)))
    .map(({ id }) => id);
}

const shapes = fc.array(shape, { minLength: 1, maxLength: 25 });
const sorts = fc.record({ by: fc.constantFrom(...CALL_SORTS), isAscending: fc.boolean() });
const principals = fc
  .record({
    kind: fc.constantFrom<Principal['kind']>('agent', 'client', 'operator', 'service', 'local'),
    agentId: fc.constantFrom('ada', 'bob'),
    clientId: fc.option(fc.constantFrom('phone', 'bob')),
    tenant: fc.constantFrom('default', 'other'),
  })
  .map((given) => aPrincipal({ ...given, id: given.agentId }));

describe('the pages of a list', () => {
  it('are together the filtered and sorted calls that the principal may see', async () => {
    let some = 0;
    await fc.assert(
      fc.asyncProperty(
        shapes,
        principals,
        fc.constantFrom(...QUERIES),
        sorts,
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        async (given, principal, query, sort, limit, isSingle) => {
          const calls = given.map(callOf);
          const { lists, store } = await listsOver(calls, undefined, isSingle);
          const request = requestOf(query, sort, limit);
          const found = (await allPages(lists, principal, request)).map(({ id }) => id);
          const whole = expected(calls, principal, request);
          // By creation, newest first, the store sorts by id.
          const isById = query === '' && sort.by === 'created' && !sort.isAscending;
          expect(isById ? found.toSorted() : found).toEqual(isById ? whole.toSorted() : whole);
          const seen = await store.listCalls({ tenant: principal.tenant }, null, 100);
          const visible = seen.items.filter((call) => maySeeCall(principal, call)).map(({ id }) => id);
          expect(visible).toEqual(expect.arrayContaining(found));
          if (found.length > limit) some += 1;
        },
      ),
      { numRuns: 400 },
    );
    expect(some).toBeGreaterThan(20);
  });

  it('list each call that does not change once, while others end and are made', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, sorts, fc.integer({ min: 1, max: 4 }), async (given, sort, limit) => {
        const calls = given.map((one) => callOf({ ...one, tenant: 'default' }));
        const { lists, store, live } = await listsOver(calls);
        const principal = aPrincipal();
        const request = requestOf('tool:a.*,b.*', sort, limit);
        const whole = expected(calls, principal, request);
        const changed = new Set<string>();
        const found = await allPages(lists, principal, request, async () => {
          const [open] = live.values();
          if (open !== undefined) {
            live.delete(open.id);
            await store.replaceCall(endedForm(open), open.version, []);
            changed.add(open.id);
          }
          const made = callOf({ ...given[0]!, tenant: 'default', createdAt: NOW + 1 });
          changed.add(made.id);
          // Made and ended: made calls that stay open would make the list by creation time endless.
          if (changed.size < 20) await insert(store, made);
        });
        const unchanged = (id: string): boolean => !changed.has(id);
        expect(found.map(({ id }) => id).filter(unchanged)).toEqual(whole.filter(unchanged));
        const ids = found.map(({ id }) => id);
        // What a list is sorted by does not change when a call ends, if it is the time of creation.
        if (sort.by === 'created') expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: 200 },
    );
  });

  it('list a call once that ends while the page is made, as ended', async () => {
    for (const by of CALL_SORTS) {
      const calls = Array.from({ length: 3 }, (_, at) =>
        aCall({ createdAt: NOW - at * 1000, state: { name: 'PENDING', deadlineAt: NOW * 2 } }),
      );
      const [ending] = calls as [Call];
      const { lists, store } = await listsOver(calls, async (stored, live) => {
        live.delete(ending.id);
        await stored.replaceCall(endedForm(ending), ending.version, []);
      });
      const request = requestOf('tool:*', { by, isAscending: by === 'created' }, 10);
      const found = await allPages(lists, aPrincipal(), request);
      expect(found.map(({ id }) => id).toSorted(), by).toEqual(calls.map(({ id }) => id).toSorted());
      expect(found.find(({ id }) => id === ending.id)?.state.name, by).toBe('COMPLETED');
      expect((await store.findCall(ending.id))?.state.name).toBe('COMPLETED');
    }
  });

  it('list a call of another node as it is when the page is read, and not in a state that was not asked for', async () => {
    const calls = Array.from({ length: 3 }, (_, at) =>
      aCall({ createdAt: NOW - at * 1000, state: { name: 'PENDING', deadlineAt: NOW * 2 } }),
    );
    const [ending, ...others] = calls as [Call, Call, Call];
    for (const query of ['tool:*', 'tool:* state:open']) {
      const end = async (stored: Store): Promise<void> =>
        void (await stored.replaceCall(endedForm(ending), ending.version, []));
      const { lists } = await listsOver(calls, end, false);
      const request = requestOf(query, { by: 'total', isAscending: true }, 10);
      const found = (await allPages(lists, aPrincipal(), request)).map(({ id, state }) => [id, state.name]);
      const open = others.map(({ id }) => [id, 'PENDING']);
      const isOpenOnly = query.includes('open');
      expect(found, query).toEqual(isOpenOnly ? open : [...open, [ending.id, 'COMPLETED']]);
    }
  });

  it('refuse cursors of other lists', async () => {
    const { lists } = await listsOver([]);
    const byRunTime = requestOf('tool:a.*', { by: 'ran', isAscending: false }, 5);
    const newest = requestOf('', { by: 'created', isAscending: false }, 5);
    const id = `tc_${'0'.repeat(26)}`;
    for (const cursor of [
      id,
      `1.list.${id}`,
      `1.total.desc.1.${id}`,
      `1.ran.asc.1.${id}`,
      `1.ran.desc.x.${id}`,
    ])
      await expect(lists.list(aPrincipal(), { ...byRunTime, cursor }), cursor).rejects.toThrow(BadCursor);
    for (const cursor of [`1.ran.desc.1.${id}`, '', '7', `1.list.${id};`, `1.2.list.${id}`])
      await expect(lists.list(aPrincipal(), { ...newest, cursor }), cursor).rejects.toThrow(BadCursor);
    for (const cursor of [id, `1.list.${id}`])
      expect(await lists.list(aPrincipal(), { ...newest, cursor })).toMatchObject({ items: [] });
  });
});
