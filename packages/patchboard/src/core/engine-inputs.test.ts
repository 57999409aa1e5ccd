import { describe, expect, it, onTestFinished } from 'vitest';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  type EngineFixture,
} from '../../test/support/an-engine.ts';
import { asked, CITY, holding, me, PARIS, returning, stateOf } from '../../test/support/asking-tools.ts';
import { settled } from '../../test/support/fake-clock.ts';
import type { Call } from './call/call.ts';
import { InputRequired, openRequests, type InputRequest } from './call/input.ts';
import type { ServerTool } from './tools/server-tool.ts';

const other = aPrincipal({ id: 'other', agentId: 'other' });
const operator = aPrincipal({ kind: 'operator', id: 'op', agentId: 'op' });

describe('a tool that asks its caller', () => {
  it('gets the content and goes on, in the same attempt', async () => {
    const fixture = await asked(holding());
    const { engine, call } = fixture;
    expect(call.state).toMatchObject({ name: 'INPUT_REQUIRED', held: true, attempt: 1 });
    expect(openRequests(call)).toMatchObject([{ id: 'in_1', message: 'Which city?', schema: CITY.schema }]);
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({
      name: 'COMPLETED',
      resultJson: '{"said":{"city":"Paris"}}',
    });
    const ended = await engine.calls.find(me, call.id);
    expect(ended?.timeline.map(({ state, attempt }) => [state, attempt])).toEqual([
      ['PENDING', undefined],
      ['EXECUTING', 1],
      ['INPUT_REQUIRED', undefined],
      ['EXECUTING', 1],
      ['COMPLETED', undefined],
    ]);
  });

  it('keeps its slot while it waits, and frees it if it returned the request', async () => {
    const held = await asked(holding());
    expect(held.engine.load().executing).toBe(1);
    const returned = await asked(returning());
    expect(returned.call.state).toMatchObject({ name: 'INPUT_REQUIRED', held: false });
    expect(returned.engine.load().executing).toBe(0);
  });

  it('runs again with the responses and what it carried, as the same attempt, after it returned the request', async () => {
    const tool = returning();
    const fixture = await asked(tool);
    const { engine, call } = fixture;
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({
      resultJson: '{"said":{"city":"Paris"},"carried":{"step":1}}',
    });
    expect(tool.runs.map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(engine.load()).toMatchObject({ open: 0, executing: 0 });
  });

  it('asks for several things at once, and runs again when all are given', async () => {
    const fixture = await asked(
      returning({
        execute: (_args, { inputs }) =>
          'b' in inputs
            ? inputs
            : new InputRequired({ a: CITY, b: { message: 'Visit', url: 'https://x.test/' } }),
      }),
    );
    const { engine, call } = fixture;
    expect(openRequests(call).map(({ id }) => id)).toEqual(['in_1', 'in_2']);
    expect(
      await engine.calls.respond(me, call.id, { id: 'in_2', action: 'accept', content: null }),
    ).toMatchObject({ ok: true, value: { state: { name: 'INPUT_REQUIRED' } } });
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'COMPLETED' });
  });

  it('does not lose its own time while the request is open', async () => {
    const fixture = await asked(holding({ timeoutMs: 5000 }));
    const { engine, clock, call } = fixture;
    await clock.advance(60_000);
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'COMPLETED' });
  });

  it('times out when the rest of its own time is over after the response', async () => {
    const tool = holding({
      timeoutMs: 5000,
      execute: async (_args, context) => {
        await context.requestInput(CITY);
        return await new Promise(() => {});
      },
    });
    const fixture = await asked(tool);
    await fixture.clock.advance(60_000);
    await fixture.engine.calls.respond(me, fixture.call.id, PARIS);
    await fixture.clock.advance(4999);
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'EXECUTING' });
    await fixture.clock.advance(1);
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      name: 'TIMED_OUT',
      error: { code: 'timeout' },
    });
  });

  it('ends with input_expired when the caller does not respond in time', async () => {
    for (const tool of [holding(), returning()]) {
      const fixture = await asked(tool, { limits: { inputExpiryMs: 1000 } });
      await fixture.clock.advance(1000);
      expect(await stateOf(fixture, fixture.call)).toMatchObject({
        name: 'TIMED_OUT',
        error: { code: 'input_expired', outcome: 'unknown' },
      });
      expect(fixture.engine.load()).toMatchObject({ open: 0, executing: 0 });
    }
  });

  it('fails with input_declined when the caller declines', async () => {
    for (const tool of [holding(), returning()]) {
      const fixture = await asked(tool);
      const given = { id: 'in_1', action: 'decline', content: undefined } as const;
      expect(await fixture.engine.calls.respond(me, fixture.call.id, given)).toMatchObject({ ok: true });
      expect(await stateOf(fixture, fixture.call)).toMatchObject({
        name: 'FAILED',
        error: { code: 'input_declined' },
      });
    }
  });

  it('handles a declined request itself if it says so', async () => {
    const tool = returning({
      execute: (_args, { inputs }) =>
        'a' in inputs ? inputs : new InputRequired({ a: { ...CITY, handlesDecline: true } }),
    });
    const fixture = await asked(tool);
    await fixture.engine.calls.respond(me, fixture.call.id, { id: 'in_1', action: 'decline', content: null });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      resultJson: '{"a":{"action":"decline","content":null}}',
    });
  });

  it('asks one thing after the other, ten times at most', async () => {
    const tool = holding({
      execute: async (_args, context) => {
        for (;;) await context.requestInput(CITY);
      },
    });
    const fixture = await asked(tool);
    for (let round = 1; round <= 10; round += 1) {
      expect(
        await fixture.engine.calls.respond(me, fixture.call.id, { ...PARIS, id: `in_${round}` }),
      ).toMatchObject({ ok: true });
      await settled();
    }
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      name: 'FAILED',
      error: { code: 'input_unavailable' },
    });
  });

  it('ends with its result though it did not wait for the response', async () => {
    const tool = holding({
      execute: async (_args, context) => {
        context.requestInput(CITY).catch(() => {});
        return await Promise.resolve('done');
      },
    });
    const fixture = await asked(tool);
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'COMPLETED', resultJson: '"done"' });
  });

  it('ends no process by a response that it does not await any more', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const tool = aServerTool({
      name: 'ask',
      execute: async (_args, { requestInput, signal }) => {
        const response = requestInput(CITY);
        await new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
        return await response;
      },
    });
    const { engine, call } = await asked(tool);
    expect(await engine.calls.cancel(me, call.id)).toMatchObject({ ok: true });
    await settled();
    expect(unhandled).toEqual([]);
  });

  it('fails clearly when the request itself is not valid', async () => {
    const bad: InputRequest[] = [
      { message: '' },
      { message: 'x', url: 'javascript:alert(1)' },
      { message: 'x', schema: { type: 'nonsense' } },
      { message: 'x', schema: true, url: 'https://x.test/' },
    ];
    for (const request of bad) {
      const fixture = await asked(holding({ execute: (_args, context) => context.requestInput(request) }));
      expect(await stateOf(fixture, fixture.call)).toMatchObject({
        name: 'FAILED',
        error: { code: 'tool_failed' },
      });
    }
  });
});

describe('the response', () => {
  it('is taken from the caller alone', async () => {
    const { engine, call } = await asked(holding());
    expect(await engine.calls.respond(other, call.id, PARIS)).toMatchObject({
      ok: false,
      failure: { code: 'permission_denied' },
    });
    expect(await engine.calls.respond(operator, call.id, PARIS)).toMatchObject({
      ok: false,
      failure: { code: 'permission_denied' },
    });
    const agent = aPrincipal({ kind: 'agent', id: 'agent-2', agentId: 'agent-2' });
    expect(await engine.calls.respond(agent, call.id, PARIS)).toMatchObject({
      ok: false,
      failure: { code: 'call_not_found' },
    });
  });

  it('must fit the schema, and the call goes on waiting if it does not', async () => {
    const fixture = await asked(holding());
    const { engine, call } = fixture;
    expect(await engine.calls.respond(me, call.id, { ...PARIS, content: { city: 7 } })).toMatchObject({
      ok: false,
      failure: { code: 'input_invalid', issues: [{ path: '/city' }] },
    });
    expect(
      await engine.calls.respond(me, call.id, { ...PARIS, content: { city: 'x'.repeat(70_000) } }),
    ).toMatchObject({ ok: false, failure: { code: 'too_large' } });
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'INPUT_REQUIRED' });
  });

  it('is taken once, of two at the same time and after the end', async () => {
    const fixture = await asked(holding());
    const { engine, call } = fixture;
    const results = await Promise.all([
      engine.calls.respond(me, call.id, PARIS),
      engine.calls.respond(me, call.id, { ...PARIS, content: { city: 'Rome' } }),
    ]);
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    expect(results.find(({ ok }) => !ok)).toMatchObject({ failure: { code: 'conflict' } });
    await settled();
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ failure: { code: 'conflict' } });
  });

  it('is not taken for a request that is not there', async () => {
    const { engine, call } = await asked(holding());
    expect(await engine.calls.respond(me, call.id, { ...PARIS, id: 'in_9' })).toMatchObject({
      failure: { code: 'conflict' },
    });
    expect(await engine.calls.respond(me, 'tc_none', PARIS)).toMatchObject({
      failure: { code: 'call_not_found' },
    });
  });

  it('comes too late for a cancelled call, whose tool stops', async () => {
    const fixture = await asked(holding());
    const { engine, call } = fixture;
    expect(await engine.calls.cancel(me, call.id)).toMatchObject({ ok: true });
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ failure: { code: 'conflict' } });
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'CANCELLED' });
    expect(fixture.engine.load()).toMatchObject({ open: 0, executing: 0 });
  });

  it('is redacted like the arguments after the end, and the ledger has hashes only', async () => {
    const secret = { message: 'Password?', schema: { type: 'object' } };
    const fixture = await asked(
      holding({ execute: async (_args, context) => void (await context.requestInput(secret)) }),
      {
        redact: ['password'],
      },
    );
    const { engine, store, call } = fixture;
    await engine.calls.respond(me, call.id, { ...PARIS, content: { password: 'hunter2' } });
    await settled();
    const ended = await store.findCall(call.id);
    expect(ended?.inputs[0]?.response?.contentJson).toBe('{"password":"[redacted]"}');
    const rows = await store.readLedger({ callId: call.id }, 0, 100);
    const kinds = rows.map(({ row }) => row.kind);
    expect(kinds).toContain('input_required');
    expect(kinds).toContain('input_given');
    expect(JSON.stringify(rows.map(({ row }) => row.body))).not.toContain('hunter2');
  });
});

describe('a caller that cannot be asked', () => {
  it('makes the tool fail with input_unavailable', async () => {
    for (const tool of [holding(), returning()]) {
      const fixture = await asked(tool, {}, { acceptsInput: false });
      expect(await stateOf(fixture, fixture.call)).toMatchObject({
        name: 'FAILED',
        error: { code: 'input_unavailable' },
      });
      expect(fixture.engine.load().executing).toBe(0);
    }
  });

  it('is the caller of a call that a grant let through, unless the contract declares asks_input', async () => {
    const fixture = await asked(holding({ annotations: { requires_approval: true } }));
    const { engine, call } = fixture;
    const digest = call.approval?.digest ?? '';
    const grant = { scope: 'exact', when: [], thisAgentOnly: true, lifetimeMs: null } as const;
    expect(
      await engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null, grant }),
    ).toMatchObject({ ok: true });
    const again = accepted(await engine.submit(aRequest({ toolName: 'ask' }), me));
    expect(await stateOf(fixture, again)).toMatchObject({
      name: 'FAILED',
      error: { code: 'input_unavailable' },
    });
    expect((await engine.calls.find(me, again.id))?.approval).toBeNull();
  });

  it('is the caller of an approved call, unless the contract declares asks_input', async () => {
    for (const asks of [false, true]) {
      const annotations = { requires_approval: true, ...(asks ? { asks_input: true } : {}) };
      const fixture = await asked(holding({ annotations }));
      const { engine, call } = fixture;
      const decision = { decision: 'allow', digest: call.approval?.digest ?? '', note: null } as const;
      expect(await engine.calls.decide(operator, call.id, decision)).toMatchObject({ ok: true });
      expect(await stateOf(fixture, call)).toMatchObject(
        asks ? { name: 'INPUT_REQUIRED' } : { name: 'FAILED', error: { code: 'input_unavailable' } },
      );
    }
  });
});

describe('a wait', () => {
  it('ends when input is needed, if the caller wants that', async () => {
    const fixture = await anEngine({ tools: [holding()] });
    const submitted = await fixture.engine.submit(aRequest({ toolName: 'ask' }), me);
    const call = accepted(submitted);
    const live = 'live' in submitted ? submitted.live : null;
    expect(await fixture.engine.calls.wait(me, call.id, 60_000, { untilInput: true, live })).toMatchObject({
      state: { name: 'INPUT_REQUIRED' },
    });
    const again = fixture.engine.calls.wait(me, call.id, 60_000, { untilInput: true });
    // A client that knows no input requests would ask again at once.
    await fixture.clock.advance(1000);
    expect(await again).toMatchObject({ state: { name: 'INPUT_REQUIRED' } });
  });
});

describe('after a restart', () => {
  async function restarted(tool: ServerTool): Promise<EngineFixture & { call: Call }> {
    const before = await asked(tool);
    const { store, clock, call } = before;
    const after = await anEngine({ tools: [tool], store, clock });
    await settled();
    return { ...after, call };
  }

  it('a returned request still waits, and the tool runs with the response', async () => {
    const tool = returning();
    const fixture = await restarted(tool);
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'INPUT_REQUIRED' });
    expect(await fixture.engine.calls.respond(me, fixture.call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'COMPLETED' });
    expect(tool.runs).toHaveLength(2);
  });

  it('a returned request does not run under another contract', async () => {
    const before = await asked(returning());
    const changed = returning({ description: 'another contract' });
    const after = await anEngine({ tools: [changed], store: before.store, clock: before.clock });
    expect(await after.engine.calls.respond(me, before.call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(after, before.call)).toMatchObject({
      name: 'FAILED',
      error: { code: 'tool_not_found' },
    });
    expect(changed.runs).toHaveLength(0);
  });

  it('a held request seals the call', async () => {
    const fixture = await restarted(holding());
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      name: 'SEALED',
      error: { code: 'interrupted', outcome: 'unknown' },
    });
  });

  it('takes no response to a held request while its tool waits for a slot to run again', async () => {
    const tool = holding({ annotations: { idempotent: true } });
    const before = await anEngine({ tools: [tool] });
    const calls = [1, 2].map(async () =>
      accepted(await before.engine.submit(aRequest({ toolName: 'ask' }), me)),
    );
    const [first, second] = await Promise.all(calls);
    await settled();
    const limits = { concurrencyPerRun: 1 };
    const after = await anEngine({ tools: [tool], store: before.store, clock: before.clock, limits });
    await settled();
    if (first === undefined || second === undefined) throw new Error('two calls were made');
    const results = await Promise.all(
      [first, second].map(({ id }) => after.engine.calls.respond(me, id, PARIS)),
    );
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
  });

  it('a held request of an idempotent tool is made again, and the old one takes no response', async () => {
    const fixture = await restarted(holding({ annotations: { idempotent: true } }));
    const { engine, call } = fixture;
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'INPUT_REQUIRED', attempt: 2 });
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ failure: { code: 'conflict' } });
    expect(await engine.calls.respond(me, call.id, { ...PARIS, id: 'in_2' })).toMatchObject({ ok: true });
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'COMPLETED' });
  });

  it('is not lost by a shutdown: a returned request stays, a held one is sealed', async () => {
    const returned = await asked(returning());
    const draining = returned.engine.drain();
    await returned.clock.advance(20_000);
    await draining;
    expect((await returned.store.findCall(returned.call.id))?.state.name).toBe('INPUT_REQUIRED');
    const held = await asked(holding());
    const sealing = held.engine.drain();
    await held.clock.advance(20_000);
    await sealing;
    expect((await held.store.findCall(held.call.id))?.state.name).toBe('SEALED');
  });
});
