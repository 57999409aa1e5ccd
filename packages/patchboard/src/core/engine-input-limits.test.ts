import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { asked, CITY, holding, me, PARIS, returning, stateOf } from '../../test/support/asking-tools.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { InputRequired } from './call/input.ts';

describe('a call that waits for input', () => {
  const ONE_SLOT = { concurrencyPerRun: 1, concurrencyServer: 1, concurrencyPerTenant: 1 };

  it('leaks no slot if it is cancelled right after its last response', async () => {
    const fixture = await asked(returning(), { limits: ONE_SLOT });
    const { engine, call } = fixture;
    await Promise.all([engine.calls.respond(me, call.id, PARIS), engine.calls.cancel(me, call.id)]);
    await settled();
    expect(engine.load()).toMatchObject({ open: 0, executing: 0, waitingForSlot: 0 });
    const next = accepted(await engine.submit(aRequest({ toolName: 'ask' }), me));
    expect(await stateOf(fixture, next)).toMatchObject({ name: 'INPUT_REQUIRED' });
  });

  it('refuses a response once its row is gone, instead of trying again for ever', async () => {
    const { engine, store, call } = await asked(returning());
    store.replaceCall = () => ({ kind: 'conflict', current: undefined });
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({
      ok: false,
      failure: { code: 'call_not_found' },
    });
  });

  it('takes no response after it has expired, also while the timer is late', async () => {
    const fixture = await asked(returning(), { limits: { inputExpiryMs: 1000 } });
    fixture.clock.jumpWall(3_600_000);
    expect(await fixture.engine.calls.respond(me, fixture.call.id, PARIS)).toMatchObject({
      ok: false,
      failure: { code: 'conflict' },
    });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({
      name: 'TIMED_OUT',
      error: { code: 'input_expired', retryable: false },
    });
  });

  it('counts its responses among the bytes that open calls hold in memory', async () => {
    const many = returning({
      execute: (_args, { inputs }) =>
        new InputRequired({ [`part${Object.keys(inputs).length}`]: { message: 'More?' } }),
    });
    const fixture = await asked(many, { limits: { openBytesPerTenant: 100_000 } });
    const { engine, call } = fixture;
    const content = { text: 'x'.repeat(60_000) };
    expect(await engine.calls.respond(me, call.id, { id: 'in_1', action: 'accept', content })).toMatchObject({
      ok: true,
    });
    await settled();
    expect(await engine.calls.respond(me, call.id, { id: 'in_2', action: 'accept', content })).toMatchObject({
      ok: false,
      failure: { code: 'overloaded' },
    });
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'INPUT_REQUIRED' });
  });

  it.each([
    ['of its tenant', { openBytesPerTenant: 100_000 }],
    ['of the server', { openBytesServer: 100_000 }],
  ])('cannot ask for more than the bytes that open calls %s may hold in memory', async (_name, limits) => {
    const large = { message: 'Which?', schema: { type: 'string', description: 'x'.repeat(60_000) } };
    const tool = aServerTool({ name: 'ask', execute: () => new InputRequired({ one: large }) });
    const fixture = await asked(tool, { limits });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'INPUT_REQUIRED' });
    const second = accepted(await fixture.engine.submit(aRequest({ toolName: 'ask' }), me));
    expect(await stateOf(fixture, second)).toMatchObject({
      name: 'FAILED',
      error: { code: 'input_unavailable', retryable: false },
    });
    expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'INPUT_REQUIRED' });
  });

  it('keeps the response as it was given, whatever the tool makes of it', async () => {
    const tool = holding({
      execute: async (_args, context) => {
        const content = (await context.requestInput({ message: 'To whom?' })) as { to: string };
        content.to = 'mallory';
        return 'sent';
      },
    });
    const { engine, store, call } = await asked(tool);
    await engine.calls.respond(me, call.id, { id: 'in_1', action: 'accept', content: { to: 'bob' } });
    await settled();
    expect((await store.findCall(call.id))?.inputs[0]?.response?.contentJson).toBe('{"to":"bob"}');
  });

  it('keeps neither what the tool carried nor a value whose key is redacted', async () => {
    const tool = returning({
      execute: (_args, { inputs }) =>
        'password' in inputs
          ? 'done'
          : new InputRequired({ password: { message: '?', schema: { type: 'string' } } }, { token: 'abc' }),
    });
    const { engine, store, call } = await asked(tool, { redact: ['password'] });
    await engine.calls.respond(me, call.id, { id: 'in_1', action: 'accept', content: 'hunter2' });
    await settled();
    const stored = JSON.stringify(await store.findCall(call.id));
    expect(stored).toContain('"name":"COMPLETED"');
    expect(stored).not.toContain('hunter2');
    expect(stored).not.toContain('abc');
  });

  it('gets a response that comes as soon as the request is recorded', async () => {
    const fixture = await anEngine({ tools: [holding()] });
    const { engine, store } = fixture;
    const results: Promise<{ readonly ok: boolean }>[] = [];
    store.watch(({ row }) => {
      if (row.kind !== 'input_required') return;
      queueMicrotask(() => results.push(engine.calls.respond(me, row.callId ?? '', PARIS)));
    });
    const call = accepted(await engine.submit(aRequest({ toolName: 'ask' }), me));
    expect(await stateOf(fixture, call)).toMatchObject({ name: 'COMPLETED' });
    expect((await Promise.all(results)).map(({ ok }) => ok)).toEqual([true]);
  });

  it('asks for at most 20 things at once, and carries at most 64 KiB', async () => {
    const requests = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`r${index}`, CITY]));
    for (const required of [
      new InputRequired(requests),
      new InputRequired({ city: CITY }, 'x'.repeat(70_000)),
    ]) {
      const fixture = await asked(returning({ execute: () => required }));
      expect(await stateOf(fixture, fixture.call)).toMatchObject({
        name: 'FAILED',
        error: { code: 'tool_failed' },
      });
    }
  });

  it('does not delay a shutdown once its tool has returned the request', async () => {
    let ask = (): void => {};
    const tool = returning({
      execute: () => new Promise((resolve) => (ask = () => resolve(new InputRequired({ city: CITY })))),
    });
    const { engine } = await asked(tool);
    const draining = engine.drain();
    ask();
    await draining;
  });

  it('does not delay a shutdown either if the response came with the request of the call', async () => {
    let ask = (): void => {};
    const tool = returning({
      execute: () => new Promise((resolve) => (ask = () => resolve(new InputRequired({ city: CITY })))),
    });
    const inputs = { city: { action: 'accept', content: { city: 'Paris' } } } as const;
    const { engine, store, call } = await asked(tool, {}, { inputs });
    const draining = engine.drain();
    ask();
    await draining;
    // It runs again at the next start.
    expect((await store.findCall(call.id))?.state).toMatchObject({ name: 'INPUT_REQUIRED', held: false });
  });
});
