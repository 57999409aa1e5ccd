import { describe, expect, it, vi } from 'vitest';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  manualTool,
} from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { failure, foreignText, StorageFull, ToolFailure } from './failures.ts';

const local = aPrincipal();

describe('the way of a call', () => {
  it('executes a server tool from the first commit on and keeps its result', async () => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.echo', args: { a: 1 } }), local));
    expect(call.state.name).toBe('EXECUTING');
    await settled();
    const done = await engine.calls.find(local, call.id);
    expect(done?.state).toMatchObject({ name: 'COMPLETED', resultJson: '{"echo":{"a":1}}' });
    expect(done?.timeline.map((entry) => entry.state)).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
  });

  it('does not run a tool before its receipt is durable', async () => {
    const order: string[] = [];
    const tool = aServerTool({ name: 'toy.echo', execute: () => Promise.resolve(order.push('run')) });
    const { engine, store } = await anEngine({ tools: [tool] });
    const insert = store.insertCall.bind(store);
    store.insertCall = async (record) => {
      const inserted = await insert(record);
      order.push('durable');
      return inserted;
    };
    await engine.submit(aRequest({ toolName: 'toy.echo' }), local);
    await settled();
    expect(order).toEqual(['durable', 'run']);
  });

  it('refuses an unknown tool and bad arguments with one ledger row and no call', async () => {
    const tool = aServerTool({ name: 'toy.echo', inputSchema: { type: 'object', required: ['a'] } });
    const { engine, store } = await anEngine({ tools: [tool] });
    const unknown = await engine.submit(aRequest({ toolName: 'nope' }), local);
    expect(unknown).toMatchObject({
      kind: 'refused',
      failure: { code: 'tool_not_found', message: 'tool not found: nope' },
    });
    const bad = await engine.submit(aRequest({ toolName: 'toy.echo' }), local);
    expect(bad).toMatchObject({ kind: 'refused', failure: { code: 'input_invalid' } });
    const rows = await store.readLedger({}, 0, 10);
    expect(rows.map(({ row }) => row.kind)).toEqual(['call.refused', 'call.refused']);
    expect((await engine.calls.list(local, {}, null, 10)).items).toEqual([]);
  });

  it("lists an agent's own calls and runs, whatever it asks for", async () => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })] });
    const [ada, bob] = ['ada', 'bob'].map((id) => aPrincipal({ kind: 'agent', id, agentId: id }));
    await engine.submit(aRequest({ toolName: 'toy.echo', runId: 'run_ada' }), ada!);
    await engine.submit(aRequest({ toolName: 'toy.echo', runId: 'run_bob' }), bob!);
    const agentsOf = async (caller: typeof local, wanted: object): Promise<string[]> =>
      (await engine.calls.list(caller, wanted, null, 10)).items.map(({ agentId }) => agentId);
    expect(await agentsOf(ada!, { agentId: 'bob' })).toEqual(['ada']);
    expect(await agentsOf(ada!, { tenant: 'other' })).toEqual(['ada']);
    expect(await agentsOf(ada!, { runId: 'run_bob' })).toEqual([]);
    expect(await agentsOf(local, {})).toEqual(['bob', 'ada']);
    const runsOf = async (caller: typeof local, outcome: 'completed' | null): Promise<string[]> => {
      const wanted = { filter: { agentId: 'bob' }, outcome, cursor: null, limit: 10 };
      return (await engine.searches.runs(caller, wanted)).items.map(({ run }) => run.id);
    };
    for (const outcome of [null, 'completed'] as const) {
      expect(await runsOf(ada!, outcome)).toEqual(['run_ada']);
      expect(await runsOf(local, outcome)).toEqual(['run_bob']);
    }
  });

  it('records a denied call and never runs it', async () => {
    const execute = vi.fn();
    const guard = {
      revision: 0,
      lists: () => true,
      listsName: () => true,
      registers: () => true,
      admit: () => ({ effect: 'deny', rule: 'test', reason: 'not today', policyVersion: 1 }) as const,
    };
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo', execute })], guard });
    const denied = await engine.submit(aRequest({ toolName: 'toy.echo' }), local);
    expect(denied).toMatchObject({
      kind: 'denied',
      failure: { code: 'permission_denied', message: 'permission denied: not today' },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it('denies when the guard throws', async () => {
    const guard = {
      revision: 0,
      lists: () => true,
      listsName: () => true,
      registers: () => true,
      admit: () => {
        throw new Error('policy unreadable');
      },
    };
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })], guard });
    expect(await engine.submit(aRequest({ toolName: 'toy.echo' }), local)).toMatchObject({
      kind: 'denied',
      failure: { code: 'hook_denied' },
    });
  });

  it.each([
    ['throws an Error', () => Promise.reject(new Error('boom')), { code: 'tool_failed', message: 'boom' }],
    ['throws no Error', () => Promise.reject('plain'), { code: 'tool_failed', message: 'plain' }], // oxlint-disable-line prefer-promise-reject-errors
    [
      'throws synchronously',
      () => {
        throw new Error('at once');
      },
      { code: 'tool_failed', message: 'at once' },
    ],
    [
      'returns a cycle',
      () => {
        const cycle: Record<string, unknown> = {};
        cycle['self'] = cycle;
        return Promise.resolve(cycle);
      },
      { code: 'tool_failed' },
    ],
    ['returns a BigInt', () => Promise.resolve(10n), { code: 'tool_failed' }],
    ['returns too much', () => Promise.resolve('x'.repeat(2_000_000)), { code: 'result_too_large' }],
    [
      'fails on purpose',
      () => Promise.reject(new ToolFailure(failure('upstream_unreachable'))),
      { code: 'upstream_unreachable', retryable: true },
    ],
  ])('ends as FAILED when the tool %s', async (_title, execute, error) => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.bad', execute })] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.bad' }), local));
    await settled();
    expect((await engine.calls.find(local, call.id))?.state).toMatchObject({ name: 'FAILED', error });
  });

  it('ends as TIMED_OUT when the tool reports a time limit of its own', async () => {
    const execute = () => Promise.reject(new ToolFailure(failure('timeout', foreignText('no response'))));
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.slow', execute })] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    await settled();
    const error = { code: 'timeout', message: 'no response' };
    expect((await engine.calls.find(local, call.id))?.state).toMatchObject({ name: 'TIMED_OUT', error });
  });

  it('stores undefined as null, and checks the output schema on the JSON that is kept', async () => {
    const tools = [
      aServerTool({ name: 'toy.void', execute: () => Promise.resolve(undefined) }),
      aServerTool({
        name: 'toy.date',
        outputSchema: { type: 'string' },
        execute: () => Promise.resolve(new Date(0)),
      }),
      aServerTool({ name: 'toy.wrong', outputSchema: { type: 'string' }, execute: () => Promise.resolve(1) }),
    ];
    const { engine } = await anEngine({ tools });
    const states = [];
    for (const { name } of tools) {
      const call = accepted(await engine.submit(aRequest({ toolName: name }), local));
      await settled();
      states.push((await engine.calls.find(local, call.id))?.state);
    }
    expect(states).toMatchObject([
      { name: 'COMPLETED', resultJson: 'null' },
      { name: 'COMPLETED', resultJson: '"1970-01-01T00:00:00.000Z"' },
      { name: 'FAILED', error: { code: 'output_invalid' } },
    ]);
  });
});

describe('deadlines', () => {
  it('times a call out, aborts its signal, and ignores what the tool says later', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine, clock } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const work = running.get(call.id)!;
    expect(work.context.signal.aborted).toBe(false);
    await clock.advance(5200);
    expect(work.context.signal.aborted).toBe(true);
    work.resolve('late');
    await settled();
    expect((await engine.calls.find(local, call.id))?.state).toMatchObject({
      name: 'TIMED_OUT',
      error: { code: 'timeout', outcome: 'unknown' },
    });
  });

  it('fails a call that finds no slot in time, and certainly did not start it', async () => {
    const { tool, running } = manualTool('toy.slow', { timeoutMs: 600_000 });
    const { engine, clock } = await anEngine({ tools: [tool], limits: { concurrencyPerRun: 1 } });
    accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const waiting = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    expect(waiting.state.name).toBe('PENDING');
    await clock.advance(60_200);
    expect((await engine.calls.find(local, waiting.id))?.state).toMatchObject({
      name: 'FAILED',
      error: { code: 'queue_timeout', outcome: 'not_started' },
    });
    expect(running.size).toBe(1);
  });

  it('counts the tool timeout from dispatch, not from the wait for a slot', async () => {
    const { tool, running } = manualTool('toy.slow', { timeoutMs: 40_000 });
    const { engine, clock } = await anEngine({ tools: [tool], limits: { concurrencyPerRun: 1 } });
    const first = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const second = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    await clock.advance(30_000);
    running.get(first.id)!.resolve(1);
    await settled();
    await clock.advance(30_000);
    expect((await engine.calls.find(local, second.id))?.state.name).toBe('EXECUTING');
    running.get(second.id)!.resolve(2);
    await settled();
    expect((await engine.calls.find(local, second.id))?.state).toMatchObject({
      name: 'COMPLETED',
      resultJson: '2',
    });
  });
});

describe('concurrency', () => {
  it('takes no run of one tenant for a run of another, whatever their ids hold', async () => {
    const { tool } = manualTool('toy.manual');
    const { engine } = await anEngine({ tools: [tool], limits: { concurrencyPerRun: 1 } });
    const first = aPrincipal({ tenant: 'a:b' });
    const second = aPrincipal({ tenant: 'a' });
    await engine.submit(aRequest({ toolName: 'toy.manual', runId: 'c' }), first);
    await engine.submit(aRequest({ toolName: 'toy.manual', runId: 'b:c' }), second);
    expect(engine.load()).toMatchObject({ executing: 2, waitingForSlot: 0 });
  });

  it('runs three calls of a run at once and other runs beside it', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool] });
    for (let count = 0; count < 5; count += 1) await engine.submit(aRequest({ toolName: 'toy.slow' }), local);
    expect(running.size).toBe(3);
    await engine.submit(aRequest({ toolName: 'toy.slow', runId: 'run_2' }), local);
    expect(running.size).toBe(4);
    [...running.values()][0]!.resolve(1);
    await settled();
    expect(running.size).toBe(5);
  });

  it("obeys a tool's own limit", async () => {
    const { tool, running } = manualTool('toy.single', { concurrency: 1 });
    const { engine } = await anEngine({ tools: [tool] });
    for (const runId of ['run_a', 'run_b'])
      await engine.submit(aRequest({ toolName: 'toy.single', runId }), local);
    expect(running.size).toBe(1);
  });

  it('refuses more open calls of a tenant than the cap, and takes them again later', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool], limits: { openCallsPerTenant: 2 } });
    const first = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    await engine.submit(aRequest({ toolName: 'toy.slow' }), local);
    expect(await engine.submit(aRequest({ toolName: 'toy.slow' }), local)).toMatchObject({
      failure: { code: 'queue_full' },
    });
    running.get(first.id)!.resolve(1);
    await settled();
    expect((await engine.submit(aRequest({ toolName: 'toy.slow' }), local)).kind).toBe('accepted');
  });

  it('refuses more bytes of open calls than the cap, and takes them again later', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool], limits: { openBytesPerTenant: 1000 } });
    const request = aRequest({ toolName: 'toy.slow', args: { text: 'x'.repeat(1000) } });
    const first = accepted(await engine.submit(request, local));
    expect(await engine.submit(request, local)).toMatchObject({ failure: { code: 'queue_full' } });
    running.get(first.id)!.resolve(1);
    await settled();
    expect((await engine.submit(request, local)).kind).toBe('accepted');
  });

  it('refuses more bytes of all tenants together than the server has room for', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool], limits: { openBytesServer: 1500 } });
    const request = aRequest({ toolName: 'toy.slow', args: { text: 'x'.repeat(1000) } });
    const tenants = ['one', 'two', 'three'].map((tenant) => aPrincipal({ tenant }));
    const first = accepted(await engine.submit(request, tenants[0]!));
    accepted(await engine.submit(request, tenants[1]!));
    expect(await engine.submit(request, tenants[2]!)).toMatchObject({
      failure: { code: 'queue_full', message: expect.stringContaining('all calls') as unknown },
    });
    running.get(first.id)!.resolve(1);
    await settled();
    expect((await engine.submit(request, tenants[2]!)).kind).toBe('accepted');
  });
});

describe('names of server tools', () => {
  it('never lead to two tools, as names or as wire names', async () => {
    const named = (...names: string[]) => names.map((name) => aServerTool({ name }));
    await expect(anEngine({ tools: named('x.y', 'x__y') })).rejects.toThrow('the wire name of x.y');
    const { engine } = await anEngine({});
    engine.addPack({ name: 'hidden', mustBeNamed: true, tools: named('a.b__c') });
    engine.addPack({ name: 'open', tools: named('a__b.c') });
    const { wireName } = engine.toolIndex.find('default', 'a__b.c')!;
    expect(wireName).not.toBe('a__b__c');
    expect(engine.toolIndex.find('default', wireName)?.name).toBe('a__b.c');
  });
});

describe('what a failure may carry', () => {
  it('is no larger than a result', async () => {
    const large = 'x'.repeat(2000);
    const tool = aServerTool({
      name: 'toy.talkative',
      execute: () => {
        throw new ToolFailure(failure('tool_failed', foreignText('no'), { toolResult: large, note: large }));
      },
    });
    const { engine } = await anEngine({ tools: [tool], limits: { resultBytes: 1000 } });
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'toy.talkative' }), local));
    await settled();
    const state = (await engine.calls.find(local, id))?.state;
    expect(state).toMatchObject({ name: 'FAILED', error: { code: 'tool_failed' } });
    expect(JSON.stringify(state).length).toBeLessThan(1000);
  });
});

describe('retries', () => {
  const flaky = (idempotent: boolean, failures: number, retryable = true) => {
    let attempts = 0;
    const keys = new Set<string>();
    return {
      tool: aServerTool({
        name: 'toy.flaky',
        annotations: { idempotent },
        execute: (_args, context) => {
          attempts += 1;
          keys.add(context.idempotencyKey);
          if (attempts > failures) return Promise.resolve(context.attempt);
          return Promise.reject(
            new ToolFailure(failure('upstream_unreachable', foreignText('down'), { retryable })),
          );
        },
      }),
      attempts: () => attempts,
      keys,
    };
  };

  it('tries an idempotent tool again, with a pause and one key', async () => {
    const { tool, keys } = flaky(true, 2);
    const { engine, clock } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.flaky' }), local));
    await clock.advance(2000);
    const done = await engine.calls.find(local, call.id);
    expect(done?.state).toMatchObject({ name: 'COMPLETED', resultJson: '3' });
    expect(done?.timeline.map(({ state, attempt, code }) => ({ state, attempt, code }))).toEqual([
      { state: 'PENDING' },
      { state: 'EXECUTING', attempt: 1 },
      { state: 'EXECUTING', attempt: 2, code: 'upstream_unreachable' },
      { state: 'EXECUTING', attempt: 3, code: 'upstream_unreachable' },
      { state: 'COMPLETED' },
    ]);
    expect(keys.size).toBe(1);
  });

  it.each([
    ['not idempotent', flaky(false, 1)],
    ['failed for good', flaky(true, 1, false)],
  ])('never tries again when it is %s', async (_title, { tool, attempts }) => {
    const { engine, clock } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.flaky' }), local));
    await clock.advance(4000);
    expect(attempts()).toBe(1);
    expect((await engine.calls.find(local, call.id))?.state.name).toBe('FAILED');
  });

  it('gives up after the last attempt', async () => {
    const { tool, attempts } = flaky(true, 9);
    const { engine, clock } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.flaky' }), local));
    await clock.advance(4000);
    expect(attempts()).toBe(3);
    expect((await engine.calls.find(local, call.id))?.state.name).toBe('FAILED');
  });
});

describe('cancel', () => {
  it('stops running work and says that its outcome is unknown', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const { signal } = running.get(call.id)!.context;
    expect(await engine.calls.cancel(local, call.id)).toMatchObject({
      ok: true,
      value: { state: { name: 'CANCELLED', error: { outcome: 'unknown' } } },
    });
    expect(signal.aborted).toBe(true);
    expect(await engine.calls.cancel(local, call.id)).toMatchObject({
      ok: false,
      failure: { code: 'conflict' },
    });
  });

  it('ends a whole run, and no call joins it afterwards', async () => {
    const { tool } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool] });
    for (let count = 0; count < 4; count += 1) await engine.submit(aRequest({ toolName: 'toy.slow' }), local);
    const ended = await engine.runs.cancel(local, 'run_1');
    expect(ended).toMatchObject({ ok: true });
    expect(ended.ok && ended.value.cancelled).toHaveLength(4);
    expect(await engine.submit(aRequest({ toolName: 'toy.slow' }), local)).toMatchObject({
      failure: { code: 'conflict' },
    });
  });
});

describe('runs and idempotency', () => {
  it('gives a second agent a run of its own under the same id', async () => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })] });
    const first = accepted(await engine.submit(aRequest({ toolName: 'toy.echo' }), local));
    const other = aPrincipal({ kind: 'agent', agentId: 'other' });
    const request = aRequest({ toolName: 'toy.echo', idempotencyKey: 'k' });
    const second = accepted(await engine.submit(request, other));
    expect(second.runId).toMatch(/^run_1\.[0-9a-f]{8}$/);
    expect(await engine.submit(request, other)).toMatchObject({ duplicate: true, call: { id: second.id } });
    await settled();
    const listed = await engine.calls.list(other, { runId: first.runId }, null, 10);
    expect(listed.items.map(({ id }) => id)).toEqual([second.id]);
    expect(await engine.runs.create(other, first.runId)).toMatchObject({ value: { id: second.runId } });
    await engine.runs.cancel(other, first.runId);
    expect(await engine.submit({ ...request, idempotencyKey: 'l' }, other)).toMatchObject({
      failure: { code: 'conflict' },
    });
    accepted(await engine.submit(aRequest({ toolName: 'toy.echo' }), local));
  });

  it('refuses an id whose two runs both belong to another agent', async () => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })] });
    const request = aRequest({ toolName: 'toy.echo' });
    const first = accepted(await engine.submit(request, local));
    const other = aPrincipal({ kind: 'agent', agentId: 'other' });
    const own = accepted(await engine.submit(request, other)).runId;
    const fresh = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })] });
    await fresh.engine.submit(request, local);
    await fresh.engine.submit({ ...request, runId: own }, local);
    expect(await fresh.engine.submit(request, other)).toMatchObject({
      failure: { code: 'permission_denied', message: expect.stringContaining(first.runId) as string },
    });
  });

  it('returns the same call for the same key and runs it once', async () => {
    const execute = vi.fn(() => Promise.resolve(1));
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo', execute })] });
    const request = aRequest({ toolName: 'toy.echo', idempotencyKey: 'k', args: { b: 1, a: 2 } });
    const results = await Promise.all(Array.from({ length: 100 }, () => engine.submit(request, local)));
    const calls = new Set(results.map((result) => accepted(result).id));
    expect(calls.size).toBe(1);
    await settled();
    expect(execute).toHaveBeenCalledTimes(1);
    expect(await engine.submit({ ...request, args: { a: 2, b: 1 } }, local)).toMatchObject({
      kind: 'accepted',
      duplicate: true,
    });
    expect(await engine.submit({ ...request, args: { a: 3 } }, local)).toMatchObject({
      failure: { code: 'idempotency_mismatch' },
    });
  });
});

describe('drain', () => {
  it('begins nothing that still waits for a slot: the next start does', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine, clock, store } = await anEngine({ tools: [tool], limits: { concurrencyPerRun: 1 } });
    const first = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const second = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const drained = engine.drain();
    running.get(first.id)!.resolve(1);
    await clock.advance(100);
    await drained;
    expect(running.has(second.id)).toBe(false);
    expect((await store.findCall(second.id))?.state.name).toBe('PENDING');
    const next = manualTool('toy.slow');
    await anEngine({ tools: [next.tool], clock, store });
    await settled();
    expect(next.running.has(second.id)).toBe(true);
  });

  it('ends although the store has no room, and leaves the rest to the next start', async () => {
    const { tool, running } = manualTool('toy.slow', { timeoutMs: 600_000 });
    const { engine, clock, store } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const other = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const replace = store.replaceCall.bind(store);
    store.replaceCall = () => Promise.reject(new StorageFull());
    running.get(call.id)!.resolve(1);
    const drained = engine.drain();
    await clock.advance(12_000);
    await drained;
    store.replaceCall = replace;
    await anEngine({ tools: [manualTool('toy.slow').tool], clock, store });
    await settled();
    for (const { id } of [call, other]) expect((await store.findCall(id))?.state.name).toBe('SEALED');
  });

  it('takes no more calls, lets running ones finish, and seals what does not', async () => {
    const { tool, running } = manualTool('toy.slow', { timeoutMs: 600_000 });
    const { engine, clock, store } = await anEngine({ tools: [tool] });
    const quick = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const stuck = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const drained = engine.drain();
    expect(await engine.submit(aRequest({ toolName: 'toy.slow' }), local)).toMatchObject({
      failure: { code: 'overloaded' },
    });
    running.get(quick.id)!.resolve(1);
    await clock.advance(10_200);
    await drained;
    expect((await store.findCall(quick.id))?.state.name).toBe('COMPLETED');
    expect((await store.findCall(stuck.id))?.state).toMatchObject({
      name: 'SEALED',
      error: { outcome: 'unknown' },
    });
  });
});
