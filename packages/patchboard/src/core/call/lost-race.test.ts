import { describe, expect, it } from 'vitest';
import { foreignText } from '../failures.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  manualTool,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { delayingStore } from '../../../test/support/delaying-store.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { move, type Call, type CallState } from './call.ts';
import type { Store } from '../ports.ts';

/** Another process writes to the same store: this one finds out when it loses the race for a row. */

const agent = aPrincipal();
const phone = aPrincipal({ clientId: 'phone' });
const DONE: CallState = { name: 'COMPLETED', resultJson: '"elsewhere"', resultDigest: null };
const result = { status: 'SUCCEEDED', result: 'here', error: null, attemptToken: null } as const;

async function aClientCall(timeoutMs = 30_000): Promise<EngineFixture & { call: Call }> {
  const fixture = await anEngine({});
  await fixture.engine.clientTools.register('default', 'phone', [
    { name: 'camera', schema: { type: 'object' }, timeout_ms: timeoutMs },
  ]);
  const call = accepted(await fixture.engine.submit(aRequest({ toolName: 'camera' }), agent));
  return { ...fixture, call };
}

async function moveElsewhere(store: Store, id: string, next: CallState): Promise<Call> {
  const stored = await store.findCall(id);
  if (stored === undefined) throw new Error(`no such call: ${id}`);
  const moved = move(stored, next, stored.createdAt);
  expect(await store.replaceCall(moved, stored.version, [])).toEqual({ kind: 'replaced' });
  return moved;
}

function executing(call: Call): CallState {
  return { name: 'EXECUTING', deadlineAt: deadlineOf(call), attempt: 1, cause: null };
}

function deadlineOf({ state }: Call): number {
  if (!('deadlineAt' in state)) throw new Error(`ended: ${state.name}`);
  return state.deadlineAt;
}

/** Its rows disappear from the process's view, as after a restore of an older file. */
function withoutRow(store: Store, id: string): void {
  const find = store.findCall.bind(store);
  store.findCall = (given) => (given === id ? undefined : find(given));
  const replace = store.replaceCall.bind(store);
  store.replaceCall = (call, ...rest) =>
    call.id === id ? { kind: 'conflict', current: undefined } : replace(call, ...rest);
}

describe('a process that loses a call to another one', () => {
  it('reports the other end to a client that submits a result', async () => {
    const { engine, store, call } = await aClientCall();
    await moveElsewhere(store, call.id, executing(call));
    const ended = await moveElsewhere(store, call.id, DONE);
    expect(await engine.clients.submit(phone, call.id, result)).toMatchObject({ ok: false, call: ended });
    expect(engine.load().open).toBe(0);
  });

  it('takes over the beginning that another process recorded, and accepts the result on top of it', async () => {
    const { engine, store, call } = await aClientCall();
    await moveElsewhere(store, call.id, executing(call));
    expect(await engine.clients.acknowledge(phone, call.id, null)).toMatchObject({
      ok: true,
      repeated: true,
    });
    expect(await engine.clients.submit(phone, call.id, result)).toMatchObject({ ok: true, repeated: false });
    const states = (await store.findCall(call.id))?.timeline.map(({ state }) => state);
    expect(states).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
  });

  it('reports the other end to a client that sends an unreadable result', async () => {
    const { engine, store, call } = await aClientCall();
    await moveElsewhere(store, call.id, executing(call));
    const ended = await moveElsewhere(store, call.id, DONE);
    const unreadable = { attemptToken: `1.${call.fence ?? ''}`, why: [foreignText('no JSON')], text: '{' };
    expect(await engine.clients.reject(phone, call.id, unreadable)).toMatchObject({ ok: false, call: ended });
  });

  it('does not try again to expire what another process ended', async () => {
    const { engine, store, clock, call } = await aClientCall(5000);
    const waiting = engine.calls.wait(agent, call.id, 60_000);
    await moveElsewhere(store, call.id, executing(call));
    const ended = await moveElsewhere(store, call.id, DONE);
    await clock.advance(6000);
    expect(await store.findCall(call.id)).toEqual(ended);
    expect(await waiting).toEqual(ended);
    expect(engine.load().open).toBe(0);
  });

  it('keeps the deadline that another process set', async () => {
    const { engine, store, clock, call } = await aClientCall(5000);
    await moveElsewhere(store, call.id, {
      ...executing(call),
      deadlineAt: deadlineOf(call) + 5000,
    } as CallState);
    await clock.advance(6000);
    expect((await engine.calls.find(agent, call.id))?.state.name).toBe('EXECUTING');
    await clock.advance(5000);
    expect((await store.findCall(call.id))?.state.name).toBe('TIMED_OUT');
  });

  it('stops its own work and gives back the slot', async () => {
    const { tool, running } = manualTool('slow');
    const { engine, store } = await anEngine({ tools: [tool] });
    const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    const { signal } = running.get(call.id)!.context;
    await moveElsewhere(store, call.id, DONE);
    expect(await engine.calls.cancel(agent, call.id)).toMatchObject({
      ok: false,
      failure: { code: 'conflict' },
    });
    expect([signal.aborted, engine.load()]).toMatchObject([true, { open: 0, executing: 0 }]);
  });

  it('drops a call that is not stored any more, and ends the waits for it', async () => {
    const { engine, store, clock, call } = await aClientCall(5000);
    const waiting = engine.calls.wait(agent, call.id, 60_000);
    withoutRow(store, call.id);
    await clock.advance(6000);
    expect(await waiting).toBeUndefined();
    expect(engine.load().open).toBe(0);
    expect(await engine.clients.acknowledge(phone, call.id, null)).toMatchObject({
      ok: false,
      failure: { code: 'call_not_found' },
    });
  });

  it('forgets a call whose stored row is older than the one it read', async () => {
    const { engine, store, call } = await aClientCall();
    await engine.clients.acknowledge(phone, call.id, null);
    store.replaceCall = () => ({ kind: 'conflict', current: call });
    expect(await engine.clients.submit(phone, call.id, result)).toMatchObject({ ok: false });
    expect(engine.load().open).toBe(0);
  });
});

describe('a continuation that is overtaken', () => {
  it('neither ends the call a second time nor begins its tool', async () => {
    const { tool, running } = manualTool('slow');
    const { tool: first, running: before } = manualTool('first');
    // The commit of EXECUTING takes longest to come back; the cancel that lost to it adopts its row meanwhile.
    const { store, idle } = delayingStore(memoryStore({ digest: nodeDigest }), [0, 0, 0, 9, 0, 0]);
    const { engine } = await anEngine({ tools: [tool, first], store, limits: { concurrencyPerRun: 1 } });
    const ended: string[] = [];
    engine.onEnded(({ id }) => ended.push(id));
    const ahead = accepted(await engine.submit(aRequest({ toolName: 'first' }), agent));
    const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    before.get(ahead.id)!.resolve(1);
    await settled();
    await engine.calls.cancel(agent, call.id);
    await idle();
    expect((await engine.calls.find(agent, call.id))?.state.name).toBe('CANCELLED');
    expect([running.has(call.id), ended.filter((id) => id === call.id)]).toEqual([false, [call.id]]);
    expect(engine.load()).toMatchObject({ open: 0, executing: 0 });
  });
});
