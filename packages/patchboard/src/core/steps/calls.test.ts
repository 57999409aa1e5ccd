import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, manualTool } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Principal } from '../access/principal.ts';

const local = aPrincipal();

describe('waiting', () => {
  it('wakes with the ended call, or with the call as it is when time is over', async () => {
    const { tool, running } = manualTool('toy.slow');
    const { engine, clock } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const short = engine.calls.wait(local, call.id, 1000);
    await clock.advance(1200);
    expect((await short)?.state.name).toBe('EXECUTING');
    const long = engine.calls.wait(local, call.id, 60_000);
    await settled();
    running.get(call.id)!.resolve('done');
    expect((await long)?.state.name).toBe('COMPLETED');
  });
});

describe('cancelling', () => {
  const of = (kind: Principal['kind'], id: string, given: Partial<Principal> = {}): Principal =>
    aPrincipal({ kind, id, agentId: id, ...given });
  const maker = of('agent', 'maker');

  async function aClientsCall() {
    const { engine } = await anEngine({});
    await engine.clientTools.register('default', 'phone', [
      { name: 'camera', schema: {}, timeout_ms: 30_000 },
    ]);
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'camera' }), maker));
    return { engine, id };
  }

  it.each([
    ['another agent', of('agent', 'other'), 'call_not_found'],
    ['a service of another tenant', of('service', 'backend', { tenant: 'acme' }), 'call_not_found'],
    ['another client', of('client', 'tablet', { clientId: 'tablet' }), 'call_not_found'],
    [
      'a service that may not read calls',
      of('service', 'backend', { scopes: new Set(['tools:call'] as const) }),
      'call_not_found',
    ],
    ['the client that runs it', of('client', 'phone', { clientId: 'phone' }), 'permission_denied'],
  ])('is refused to %s', async (_who, principal, code) => {
    const { engine, id } = await aClientsCall();
    expect(await engine.calls.cancel(principal, id)).toMatchObject({ ok: false, failure: { code } });
    expect((await engine.calls.find(maker, id))?.state.name).toBe('PENDING');
  });

  it.each([
    ['the agent that made the call', maker],
    ['a service of its tenant', of('service', 'backend')],
    ['an operator', of('operator', 'op')],
    ['local mode', local],
  ])('is done for %s', async (_who, principal) => {
    const { engine, id } = await aClientsCall();
    expect(await engine.calls.cancel(principal, id)).toMatchObject({
      ok: true,
      value: { state: { name: 'CANCELLED' } },
    });
  });
});

describe('following', () => {
  async function aSlowCall() {
    const { tool, running } = manualTool('toy.slow');
    const { engine } = await anEngine({ tools: [tool] });
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    await settled();
    return { engine, id, running };
  }

  it('goes with the call to its end, however long that takes', async () => {
    const { engine, id, running } = await aSlowCall();
    const following = engine.calls.follow(local, id);
    running.get(id)!.resolve('done');
    expect((await following)?.state.name).toBe('COMPLETED');
  });

  it.each(['while the call is under way', 'before the following began'])(
    'cancels the call when cancelOn fires %s',
    async (when) => {
      const { engine, id } = await aSlowCall();
      const stop = new AbortController();
      if (when === 'before the following began') stop.abort();
      const following = engine.calls.follow(local, id, { cancelOn: stop.signal });
      stop.abort();
      expect((await following)?.state.name).toBe('CANCELLED');
    },
  );

  it('leaves the call alone when until fires', async () => {
    const { engine, id } = await aSlowCall();
    const stop = new AbortController();
    const following = engine.calls.follow(local, id, { until: stop.signal });
    stop.abort();
    expect((await following)?.state.name).toBe('EXECUTING');
  });

  it('does not hear of an abort after the end', async () => {
    const { engine, id, running } = await aSlowCall();
    const stop = new AbortController();
    const following = engine.calls.follow(local, id, { cancelOn: stop.signal });
    running.get(id)!.resolve('done');
    await following;
    stop.abort();
    await settled();
    expect((await engine.calls.find(local, id))?.state.name).toBe('COMPLETED');
  });

  it('ends at once, with the call as it is, when the server closes or has closed', async () => {
    const { tool } = manualTool('toy.slow');
    const { engine, clock } = await anEngine({ tools: [tool], limits: { concurrencyPerRun: 1 } });
    await engine.submit(aRequest({ toolName: 'toy.slow' }), local);
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'toy.slow' }), local));
    const following = engine.calls.follow(local, id);
    const drained = engine.drain();
    expect((await following)?.state.name).toBe('PENDING');
    expect((await engine.calls.follow(local, id))?.state.name).toBe('PENDING');
    await clock.advance(60_000);
    await drained;
  });
});
