import { describe, expect, it } from 'vitest';
import { aDevice, type ConnectedDevice } from '../../../test/support/a-device.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { delayingStore } from '../../../test/support/delaying-store.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Call } from '../call/call.ts';
import type { CallRequest } from '../call/call-request.ts';
import type { ClientInput, ClientInputResult } from './client-inputs.ts';
import { attemptToken, requestId } from './request-id.ts';

const me = aPrincipal();
const phone = aPrincipal({ clientId: 'phone' });
const operator = aPrincipal({ kind: 'operator', id: 'op', agentId: 'op' });
const GRACE_MS = 10_000;
const TIMEOUT_MS = 30_000;
const EXPIRY_MS = 600_000;
const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;
const PARIS = { id: 'in_1', action: 'accept', content: { city: 'Paris' } } as const;
const CAMERA = { name: 'camera', schema: {}, timeout_ms: TIMEOUT_MS };
const LIMITS = { limits: { deviceGraceMs: GRACE_MS } };

interface Scene extends EngineFixture {
  readonly call: Call;
  readonly first: ConnectedDevice;
}

/** A phone runs a call. */
async function running(
  spec: Parameters<typeof aDevice>[1][number] = CAMERA,
  request: Partial<CallRequest> = {},
): Promise<Scene> {
  const fixture = await anEngine(LIMITS);
  const first = await aDevice(fixture.engine, [spec]);
  const call = accepted(await fixture.engine.submit(aRequest({ toolName: spec.name, ...request }), me));
  await settled();
  return { ...fixture, call, first };
}

/** A client polls a call and has not acknowledged it. */
async function polled(request: Partial<CallRequest> = {}): Promise<EngineFixture & { call: Call }> {
  const fixture = await anEngine(LIMITS);
  await fixture.engine.clientTools.register('default', 'phone', [CAMERA]);
  const call = accepted(await fixture.engine.submit(aRequest({ toolName: 'camera', ...request }), me));
  return { ...fixture, call };
}

async function ask(
  { engine }: EngineFixture,
  call: Call,
  given: Partial<ClientInput> = {},
): Promise<ClientInputResult> {
  const input = { key: 'a', attemptToken: attemptToken(call), request: CITY, ...given };
  return await engine.clientInputs.request(phone, call.id, input);
}

async function current({ engine }: EngineFixture, { id }: Call): Promise<Call> {
  await settled();
  const call = await engine.calls.find(me, id);
  if (call === undefined) throw new Error(`no such call: ${id}`);
  return call;
}

function success(call: Call) {
  return { status: 'SUCCEEDED', result: 1, error: null, attemptToken: attemptToken(call) } as const;
}

describe('a device that asks the caller', () => {
  it('gets the response in the same attempt, and its clock stands still meanwhile', async () => {
    const scene = await running();
    const { engine, clock, call, first } = scene;
    await clock.advance(10_000);
    expect(await ask(scene, call)).toMatchObject({
      ok: true,
      round: { id: 'in_1', key: 'a', response: null },
    });
    expect((await current(scene, call)).state).toMatchObject({
      name: 'INPUT_REQUIRED',
      held: true,
      attempt: 1,
    });
    await clock.advance(TIMEOUT_MS * 3);
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    expect(first.responses).toMatchObject([{ key: 'a', response: { contentJson: '{"city":"Paris"}' } }]);
    const after = await current(scene, call);
    expect(after.state).toMatchObject({ name: 'EXECUTING', attempt: 1, deadlineAt: clock.now() + 20_000 });
    expect(attemptToken(after)).toBe(attemptToken(call));
    expect(await engine.clients.submit(phone, call.id, success(call))).toMatchObject({ ok: true });
    expect((await current(scene, call)).state.name).toBe('COMPLETED');
    expect(first.cancelled).toEqual([]);
  });

  it('is not asked twice for a request that it sends again, and asks for one thing at a time', async () => {
    const scene = await running();
    const { engine, call } = scene;
    await Promise.all([ask(scene, call), ask(scene, call)]);
    expect(await ask(scene, call)).toMatchObject({ ok: true, round: { id: 'in_1' } });
    expect((await current(scene, call)).inputs).toHaveLength(1);
    expect(await ask(scene, call, { key: 'b' })).toMatchObject({
      failure: { code: 'conflict', reasons: [{ code: 'input_request_open' }] },
    });
    expect(await ask(scene, call, { request: { message: 'Which other city?' } })).toMatchObject({
      failure: { reasons: [{ code: 'input_key_reused' }] },
    });
    await engine.calls.respond(me, call.id, PARIS);
    expect(await ask(scene, call)).toMatchObject({ round: { response: { action: 'accept' } } });
    expect(await ask(scene, call, { key: 'b' })).toMatchObject({ ok: true, round: { id: 'in_2' } });
  });

  it('is refused with a stale token, for the call of another client, and after the end', async () => {
    const scene = await running();
    const { engine, call } = scene;
    expect(await ask(scene, call, { attemptToken: '1.stale' })).toMatchObject({
      failure: { reasons: [{ code: 'call_token_stale' }] },
    });
    const given = { key: 'a', attemptToken: attemptToken(call), request: CITY };
    const thief = aPrincipal({ clientId: 'thief' });
    expect(await engine.clientInputs.request(thief, call.id, given)).toMatchObject({
      failure: { code: 'permission_denied' },
    });
    expect(await engine.clientInputs.request(aPrincipal({ tenant: 'else' }), call.id, given)).toMatchObject({
      failure: { code: 'call_not_found' },
    });
    await engine.clients.submit(phone, call.id, success(call));
    expect(await ask(scene, call)).toMatchObject({ failure: { reasons: [{ code: 'call_ended' }] } });
    expect((await current(scene, call)).inputs).toEqual([]);
  });

  it('learns that the caller cannot be asked, or what is wrong with the request, and goes on', async () => {
    const deaf = await running(CAMERA, { acceptsInput: false });
    expect(await ask(deaf, deaf.call)).toMatchObject({ failure: { code: 'input_unavailable' } });
    const scene = await running();
    const { call } = scene;
    for (const request of [
      { message: '' },
      { message: 'x', schema: { type: 'nonsense' } },
      { message: 'x', url: 'javascript:alert(1)' },
    ])
      expect(await ask(scene, call, { request })).toMatchObject({ failure: { code: 'body_invalid' } });
    expect((await current(scene, call)).state.name).toBe('EXECUTING');
    for (let round = 1; round <= 10; round += 1) {
      expect(await ask(scene, call, { key: `k${round}` })).toMatchObject({ ok: true });
      await scene.engine.calls.respond(me, call.id, { ...PARIS, id: `in_${round}` });
    }
    expect(await ask(scene, call, { key: 'k11' })).toMatchObject({
      failure: { code: 'input_unavailable', reasons: [{ code: 'input_rounds_used' }] },
    });
    expect(await ask(scene, call, { key: 'k10' })).toMatchObject({ ok: true, round: { id: 'in_10' } });
  });

  it('may report progress and a result while the request is open', async () => {
    const scene = await running();
    const { engine, call, first } = scene;
    await ask(scene, call);
    expect(await engine.clients.progress(phone, call.id, null, 1)).toMatchObject({ ok: true });
    expect((await current(scene, call)).state.name).toBe('INPUT_REQUIRED');
    expect(await engine.clients.submit(phone, call.id, success(call))).toMatchObject({ ok: true });
    const ended = await current(scene, call);
    expect(ended.timeline.map(({ state }) => state)).toEqual([
      'PENDING',
      'EXECUTING',
      'INPUT_REQUIRED',
      'COMPLETED',
    ]);
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ failure: { code: 'conflict' } });
    expect(first.responses).toEqual([]);
  });

  it('fails the call with an unreadable result while the request is open', async () => {
    const scene = await running();
    const { engine, call } = scene;
    await ask(scene, call);
    const unreadable = { attemptToken: attemptToken(call), why: [], text: '{' };
    expect(await engine.clients.reject(phone, call.id, unreadable)).toMatchObject({ ok: true });
    expect((await current(scene, call)).timeline.map(({ state }) => state)).toEqual([
      'PENDING',
      'EXECUTING',
      'INPUT_REQUIRED',
      'FAILED',
    ]);
  });

  it('reports that it got no input as the code of its failure', async () => {
    const scene = await running();
    const { engine, call } = scene;
    await ask(scene, call);
    await engine.calls.respond(me, call.id, { id: 'in_1', action: 'decline', content: null });
    const failed = {
      status: 'FAILED',
      result: null,
      error: { message: 'no city', code: 'input_declined' },
      attemptToken: attemptToken(call),
    } as const;
    await engine.clients.submit(phone, call.id, failed);
    expect((await current(scene, call)).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'input_declined', message: 'no city' },
    });
  });

  it('is told to stop when the request expires, and when the call is cancelled', async () => {
    const expired = await running();
    await ask(expired, expired.call);
    await expired.clock.advance(EXPIRY_MS + 200);
    expect((await current(expired, expired.call)).state).toMatchObject({
      name: 'TIMED_OUT',
      error: { code: 'input_expired', outcome: 'unknown' },
    });
    expect(expired.first.cancelled).toEqual(['input_expired']);
    const cancelled = await running();
    await ask(cancelled, cancelled.call);
    expect(await cancelled.engine.calls.cancel(me, cancelled.call.id)).toMatchObject({ ok: true });
    expect(cancelled.first.cancelled).toEqual(['cancelled']);
  });

  it('of an approved call is not covered by a contract that its client registered later', async () => {
    const risky = { ...CAMERA, annotations: { requires_approval: true } };
    const scene = await running(risky);
    const waiting = await current(scene, scene.call);
    const digest = waiting.approval?.digest ?? '';
    await scene.engine.calls.decide(operator, waiting.id, { decision: 'allow', digest, note: null });
    const call = await current(scene, waiting);
    const next = await anEngine({ ...LIMITS, store: scene.store, clock: scene.clock });
    const asking = { ...risky, annotations: { requires_approval: true, asks_input: true } };
    await next.engine.clientTools.register('default', 'phone', [asking]);
    const { device } = await aDevice(next.engine, [], 'phone', { holding: [requestId(call)] });
    expect(device.calls.size).toBe(1);
    expect(await ask(next, call)).toMatchObject({ failure: { code: 'input_unavailable' } });
  });

  it('of an approved call must declare it in its contract', async () => {
    for (const asks_input of [false, true]) {
      const scene = await running({ ...CAMERA, annotations: { requires_approval: true, asks_input } });
      const { engine, call } = scene;
      const digest = call.approval?.digest ?? '';
      const decision = { decision: 'allow', digest, note: null } as const;
      expect(await engine.calls.decide(operator, call.id, decision)).toMatchObject({ ok: true });
      const begun = await current(scene, call);
      expect(begun.state.name).toBe('EXECUTING');
      expect(await ask(scene, begun)).toMatchObject(
        asks_input ? { ok: true } : { failure: { code: 'input_unavailable' } },
      );
    }
  });

  it('is disconnected meanwhile: it gets the response when it resumes', async () => {
    const scene = await running();
    const { engine, clock, call, first } = scene;
    await ask(scene, call);
    engine.devices.disconnect(first.device, 'lost');
    await clock.advance(GRACE_MS / 2);
    await engine.calls.respond(me, call.id, PARIS);
    expect(first.responses).toEqual([]);
    const resume = first.device.resumeToken;
    const second = await aDevice(engine, [CAMERA], 'phone', { resume, holding: [requestId(call)] });
    expect(second.responses).toMatchObject([{ id: 'in_1', response: { contentJson: '{"city":"Paris"}' } }]);
    expect(second.requests).toEqual([]);
    await clock.advance(GRACE_MS);
    expect((await current(scene, call)).state.name).toBe('EXECUTING');
    expect(await engine.clients.submit(phone, call.id, success(call))).toMatchObject({ ok: true });
  });

  it('does not come back: the call ends, also if the caller responds at that moment', async () => {
    for (const responds of [false, true]) {
      const scene = await running();
      const { engine, clock, call, first } = scene;
      await ask(scene, call);
      engine.devices.disconnect(first.device, 'lost');
      const timer = clock.advance(GRACE_MS + 200);
      if (responds) await engine.calls.respond(me, call.id, PARIS);
      await timer;
      expect((await current(scene, call)).state).toMatchObject({
        name: 'FAILED',
        error: { code: 'provider_disconnected', outcome: 'unknown' },
      });
    }
  });

  it('does not come back: another device runs an idempotent call with the time that is left', async () => {
    const spec = { ...CAMERA, annotations: { idempotent: true } };
    const scene = await running(spec);
    const { engine, clock, call, first } = scene;
    await clock.advance(10_000);
    await ask(scene, call);
    const other = await aDevice(engine, [spec]);
    engine.devices.disconnect(first.device, 'lost');
    await clock.advance(GRACE_MS + 200);
    const second = await current(scene, call);
    expect(other.requests).toHaveLength(1);
    expect(second.state).toMatchObject({ name: 'EXECUTING', attempt: 2 });
    const { deadlineAt } = second.state as { deadlineAt: number };
    expect(deadlineAt - second.timeline.at(-1)!.at).toBe(20_000);
    // The first attempt is over, and so is what it asked.
    expect(await ask(scene, call)).toMatchObject({ failure: { reasons: [{ code: 'call_token_stale' }] } });
    expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ failure: { code: 'conflict' } });
    expect(await ask(scene, second)).toMatchObject({ ok: true, round: { id: 'in_2', attempt: 2 } });
    await engine.calls.respond(me, call.id, { ...PARIS, id: 'in_2' });
    expect(other.responses).toMatchObject([{ id: 'in_2' }]);
  });

  it('lost the request although it had asked: the call is not sent to it a second time', async () => {
    const scene = await running();
    const { engine, call, first } = scene;
    await ask(scene, call);
    engine.devices.disconnect(first.device, 'lost');
    const resume = first.device.resumeToken;
    const second = await aDevice(engine, [CAMERA], 'phone', { resume, holding: [] });
    expect(second.requests).toEqual([]);
    expect((await current(scene, call)).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
  });

  it('takes its tool back meanwhile, and still gets the response', async () => {
    const scene = await running();
    const { engine, call, first } = scene;
    await ask(scene, call);
    await engine.devices.takeBack(first.device, null);
    await engine.calls.respond(me, call.id, PARIS);
    expect(first.responses).toHaveLength(1);
    expect(await engine.clients.submit(phone, call.id, success(call))).toMatchObject({ ok: true });
  });
});

describe('a response that is committed while the device leaves', () => {
  const AGAIN = { ...CAMERA, annotations: { idempotent: true } };

  /** The device leaves after the commit of the response, and before the engine knows of it. */
  async function left(spec: typeof CAMERA): Promise<Scene & { other: ConnectedDevice }> {
    const memory = memoryStore({ digest: nodeDigest });
    const { store, idle } = delayingStore(memory, [3]);
    const fixture = await anEngine({ ...LIMITS, store });
    const first = await aDevice(fixture.engine, [spec]);
    const call = accepted(await fixture.engine.submit(aRequest({ toolName: 'camera' }), me));
    await idle();
    const other = await aDevice(fixture.engine, [spec]);
    await ask(fixture, call);
    const responding = fixture.engine.calls.respond(me, call.id, PARIS);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    expect((await memory.findCall(call.id))?.state.name).toBe('EXECUTING');
    expect(fixture.engine.load().byState.INPUT_REQUIRED).toBe(1);
    fixture.engine.devices.disconnect(first.device, 'left');
    expect(await responding).toMatchObject({ ok: true });
    await idle();
    return { ...fixture, call, first, other };
  }

  it('does not leave the call without a device', async () => {
    const scene = await left(CAMERA);
    expect((await current(scene, scene.call)).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'provider_disconnected' },
    });
    expect(scene.other.requests).toEqual([]);
  });

  it('does not prevent the next attempt of an idempotent tool', async () => {
    const scene = await left(AGAIN);
    expect((await current(scene, scene.call)).state).toMatchObject({ name: 'EXECUTING', attempt: 2 });
    expect(scene.other.requests).toHaveLength(1);
    expect(scene.other.responses).toEqual([]);
  });

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    'lets no request of the earlier attempt be asked for the next, %d microtasks later',
    async (turns) => {
      for (const isFirst of [true, false]) {
        const scene = await running(AGAIN);
        const { engine, call, first } = scene;
        await aDevice(engine, [AGAIN]);
        const asking = isFirst ? ask(scene, call) : null;
        if (isFirst) for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        engine.devices.disconnect(first.device, 'left');
        if (!isFirst) for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        await (asking ?? ask(scene, call));
        const after = await current(scene, call);
        expect(after.state).toMatchObject({ name: 'EXECUTING', attempt: 2 });
        expect(after.inputs.filter(({ attempt }) => attempt === 2)).toEqual([]);
      }
    },
  );
});

describe('a restart while a device asks', () => {
  it('keeps the request open; the device returns and gets the response that came meanwhile', async () => {
    const before = await running();
    const { call, clock, store } = before;
    await ask(before, call);
    const next = { ...(await anEngine({ ...LIMITS, store, clock })), call };
    expect((await current(next, call)).state.name).toBe('INPUT_REQUIRED');
    await next.engine.calls.respond(me, call.id, PARIS);
    const back = await aDevice(next.engine, [CAMERA], 'phone', { holding: [requestId(call)] });
    expect(back.responses).toMatchObject([{ id: 'in_1' }]);
    expect(await next.engine.clients.submit(phone, call.id, success(call))).toMatchObject({ ok: true });
    expect((await current(next, call)).state.name).toBe('COMPLETED');
  });

  it('ends the call if the device does not return, and not at the deadline of the request', async () => {
    const before = await running();
    const { call, clock, store } = before;
    await ask(before, call);
    const next = await anEngine({ ...LIMITS, store, clock });
    await clock.advance(GRACE_MS * 6 + 200);
    expect((await current(next, call)).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
  });
});

describe('a client over HTTP that asks the caller', () => {
  it('waits for the response, and begins the call with its request', async () => {
    const scene = await polled();
    const { engine, call } = scene;
    const given = { key: 'a', attemptToken: attemptToken(call), request: CITY };
    const waiting = engine.clientInputs.requestAndWait(phone, call.id, given, 30_000);
    expect((await current(scene, call)).state).toMatchObject({ name: 'INPUT_REQUIRED', attempt: 1 });
    await engine.calls.respond(me, call.id, PARIS);
    expect(await waiting).toMatchObject({
      ok: true,
      round: { response: { contentJson: '{"city":"Paris"}' } },
    });
    expect(await engine.clientInputs.requestAndWait(phone, call.id, given, 30_000)).toMatchObject({
      round: { response: { action: 'accept' } },
    });
    expect(await engine.clients.submit(phone, call.id, success(call))).toMatchObject({ ok: true });
  });

  it('gets the open request after the wait, and the state of a call that ended meanwhile', async () => {
    const scene = await polled();
    const { engine, clock, call } = scene;
    const given = { key: 'a', attemptToken: attemptToken(call), request: CITY };
    const short = engine.clientInputs.requestAndWait(phone, call.id, given, 5000);
    await clock.advance(5200);
    expect(await short).toMatchObject({ ok: true, round: { id: 'in_1', response: null } });
    const long = engine.clientInputs.requestAndWait(phone, call.id, given, 30_000);
    await settled();
    await engine.calls.cancel(me, call.id);
    expect(await long).toMatchObject({ ok: false, call: { state: { name: 'CANCELLED' } } });
  });

  it('reads the response after a restart, and is not sent the call again', async () => {
    const before = await polled();
    const { call, clock, store } = before;
    await ask(before, call);
    const next = await anEngine({ ...LIMITS, store, clock });
    await next.engine.calls.respond(me, call.id, PARIS);
    expect(next.engine.clientQueues.unacknowledged('default', 'phone')).toEqual([]);
    expect(await ask(next, call)).toMatchObject({ round: { response: { contentJson: '{"city":"Paris"}' } } });
  });

  it('is sent a cancellation when the request expires', async () => {
    const scene = await polled();
    const withdrawn: string[] = [];
    const connection = {
      deliver: () => undefined,
      withdraw: (_id: string, reason: string) => void withdrawn.push(reason),
    };
    scene.engine.clientQueues.attach('default', 'phone', connection);
    await ask(scene, scene.call);
    await scene.clock.advance(EXPIRY_MS + 200);
    await settled();
    expect(withdrawn).toEqual(['input_expired']);
  });

  it('may acknowledge the call while the request is open', async () => {
    const scene = await polled();
    await ask(scene, scene.call);
    expect(await scene.engine.clients.acknowledge(phone, scene.call.id, null)).toMatchObject({
      ok: true,
      repeated: true,
      call: { state: { name: 'INPUT_REQUIRED' } },
    });
  });

  it('may go on over a WebSocket, which then gets the response', async () => {
    const scene = await polled();
    const { engine, call } = scene;
    await engine.clients.acknowledge(phone, call.id, null);
    const { device, responses } = await aDevice(engine, []);
    await ask(scene, call);
    engine.devices.adopt(device, requestId(call));
    await engine.calls.respond(me, call.id, PARIS);
    expect(responses).toHaveLength(1);
  });
});
