import { describe, expect, it } from 'vitest';
import { foreignText } from '../failures.ts';
import { aDevice } from '../../../test/support/a-device.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Call } from '../call/call.ts';
import { attemptToken } from './request-id.ts';

const agent = aPrincipal();
const CAMERA = {
  name: 'camera',
  schema: { type: 'object' },
  output_schema: { type: 'object' },
  timeout_ms: 30_000,
};
const phone = aPrincipal({ clientId: 'phone' });
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

async function withClientTool(): Promise<EngineFixture & { invoke: () => Promise<string> }> {
  const fixture = await anEngine({});
  const report = await fixture.engine.clientTools.register('default', 'phone', [CAMERA]);
  expect(report.rejected).toEqual([]);
  const invoke = async (): Promise<string> => {
    const submitted = await fixture.engine.submit(aRequest({ toolName: 'camera' }), agent);
    if (submitted.kind !== 'accepted') throw new Error('not accepted');
    return submitted.call.id;
  };
  return { ...fixture, invoke };
}

const success = (result: unknown, attemptToken: string | null = null) =>
  ({ status: 'SUCCEEDED', result, error: null, attemptToken }) as const;

describe('a call that a client runs', () => {
  it('stays PENDING until the client begins, then runs, then ends', async () => {
    const { engine, invoke } = await withClientTool();
    const id = await invoke();
    expect((await engine.calls.find(agent, id))?.state.name).toBe('PENDING');
    expect(await engine.clients.acknowledge(phone, id, null)).toMatchObject({ ok: true, repeated: false });
    expect(await engine.clients.acknowledge(phone, id, null)).toMatchObject({ ok: true, repeated: true });
    expect((await engine.calls.find(agent, id))?.state.name).toBe('EXECUTING');
    expect(await engine.clients.submit(phone, id, success({ url: 'x' }))).toMatchObject({
      ok: true,
      repeated: false,
    });
    expect((await engine.calls.find(agent, id))?.state).toMatchObject({
      name: 'COMPLETED',
      resultJson: '{"url":"x"}',
    });
  });

  it('begins in one of two programs that got it: the other is refused before it runs, also after a restart', async () => {
    const { engine, store, invoke } = await withClientTool();
    const id = await invoke();
    const [request] = engine.clientQueues.unacknowledged('default', 'phone');
    const [same] = engine.clientQueues.unacknowledged('default', 'phone');
    expect(attemptToken(request!)).toBe(attemptToken(same!));
    const token = attemptToken(request!);
    const refused = { ok: false, failure: { reasons: [{ code: 'call_runs_in_other_program' }] } };
    expect(await engine.clients.acknowledge(phone, id, token, 'one')).toMatchObject({ repeated: false });
    for (const nodes of [engine, (await anEngine({ store })).engine]) {
      expect(await nodes.clients.acknowledge(phone, id, token, 'one')).toMatchObject({ repeated: true });
      for (const other of ['two', null])
        expect(await nodes.clients.acknowledge(phone, id, token, other)).toMatchObject(refused);
    }
  });

  it('accepts a result without an acknowledgement, and records both state changes', async () => {
    const { engine, invoke } = await withClientTool();
    const id = await invoke();
    await engine.clients.submit(phone, id, success({}));
    const call = await engine.calls.find(agent, id);
    expect(call?.timeline.map((entry) => entry.state)).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
  });

  it('accepts one of many concurrent results; the same again is a repeat, another a conflict', async () => {
    const { engine, invoke } = await withClientTool();
    const id = await invoke();
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        engine.clients.submit(phone, id, success({ index: index % 2 })),
      ),
    );
    const fresh = results.filter((result) => result.ok && !result.repeated);
    expect(fresh).toHaveLength(1);
    expect(results.filter((result) => result.ok && result.repeated)).toHaveLength(9);
    expect(results.filter((result) => !result.ok && result.failure.code === 'conflict')).toHaveLength(10);
  });

  it('refuses another client, a stale attempt, a server call and a call that has ended', async () => {
    const { engine, clock, invoke } = await withClientTool();
    const id = await invoke();
    const thief = aPrincipal({ clientId: 'thief' });
    expect(await engine.clients.submit(thief, id, success({}))).toMatchObject({
      failure: { code: 'permission_denied' },
    });
    expect(await engine.clients.submit(phone, id, success({}, '9.stale'))).toMatchObject({
      failure: { code: 'conflict' },
    });
    expect(await engine.clients.submit(aPrincipal({ tenant: 'else' }), id, success({}))).toMatchObject({
      failure: { code: 'call_not_found' },
    });
    await clock.advance(30_200);
    expect((await engine.calls.find(agent, id))?.state).toMatchObject({
      name: 'TIMED_OUT',
      error: { message: 'Remote tool timeout (30s)', outcome: 'not_started' },
    });
    expect(await engine.clients.submit(phone, id, success({}))).toMatchObject({
      failure: { code: 'conflict' },
      call: { id },
    });
  });

  it('fails a result that violates the output schema, and recognises the same submission again', async () => {
    const { engine, invoke } = await withClientTool();
    const id = await invoke();
    expect(await engine.clients.submit(phone, id, success('text'))).toMatchObject({
      ok: true,
      repeated: false,
    });
    expect((await engine.calls.find(agent, id))?.state).toMatchObject({
      name: 'FAILED',
      error: { code: 'output_invalid' },
    });
    expect(await engine.clients.submit(phone, id, success('text'))).toMatchObject({
      ok: true,
      repeated: true,
    });
  });
});

describe('clientQueues', () => {
  function connection() {
    const got: Call[] = [];
    const withdrawn: string[] = [];
    return {
      got,
      withdrawn,
      deliver: (call: Call) => void got.push(call),
      withdraw: (callId: string) => void withdrawn.push(callId),
    };
  }

  it('sends unacknowledged calls again on reconnect, and no others', async () => {
    const { engine, invoke } = await withClientTool();
    const first = connection();
    const detach = engine.clientQueues.attach('default', 'phone', first);
    const unacknowledged = await invoke();
    const begun = await invoke();
    await engine.clients.acknowledge(phone, begun, null);
    detach();
    const second = connection();
    engine.clientQueues.attach('default', 'phone', second);
    expect(first.got.map((request) => request.id)).toEqual([unacknowledged, begun]);
    expect(second.got.map((request) => request.id)).toEqual([unacknowledged]);
    const [request] = second.got;
    expect(
      await engine.clients.submit(phone, unacknowledged, success({}, attemptToken(request!))),
    ).toMatchObject({ ok: true });
  });

  it('refuses the acknowledgement of a call that a device runs by then: it would run twice', async () => {
    const { engine, invoke } = await withClientTool();
    const line = connection();
    engine.clientQueues.attach('default', 'phone', line);
    const id = await invoke();
    const { requests } = await aDevice(engine, [CAMERA]);
    await settled();
    expect([line.got.map((call) => call.id), requests.map((call) => call.id)]).toEqual([[id], [id]]);
    expect(await engine.clients.acknowledge(phone, id, attemptToken(line.got[0]!))).toMatchObject({
      ok: false,
      failure: { code: 'conflict', reasons: [{ code: 'call_runs_on_device' }] },
      call: { state: { name: 'EXECUTING' } },
    });
  });

  it('sends a call whose target is a device to no other program of the client', async () => {
    const { engine } = await withClientTool();
    const wipe = { name: 'wipe', schema: { type: 'object' }, annotations: { destructive: true } };
    await engine.clientTools.register('default', 'phone', [wipe]);
    const { device } = await aDevice(engine, [wipe], 'phone', { name: 'left' });
    const asked = accepted(await engine.submit(aRequest({ toolName: 'wipe', target: 'left' }), agent));
    engine.devices.disconnect(device, 'left');
    const line = connection();
    engine.clientQueues.attach('default', 'phone', line);
    const digest = asked.approval?.digest ?? '';
    await engine.calls.decide(operator, asked.id, { decision: 'allow', digest, note: null });
    await settled();
    expect([line.got, engine.clientQueues.unacknowledged('default', 'phone')]).toEqual([[], []]);
    const { requests } = await aDevice(engine, [wipe], 'phone', { name: 'left' });
    await settled();
    expect(requests.map(({ id }) => id)).toEqual([asked.id]);
  });

  it.each([
    ['over the same connection', false],
    ['after a poll', true],
  ])('sends an approved call when the client registers its tool again, %s, once', async (_name, polls) => {
    const { engine } = await withClientTool();
    const wipe = { name: 'wipe', schema: { type: 'object' }, annotations: { destructive: true } };
    await engine.clientTools.register('default', 'phone', [wipe]);
    const line = connection();
    engine.clientQueues.attach('default', 'phone', line);
    const asked = accepted(await engine.submit(aRequest({ toolName: 'wipe' }), agent));
    await engine.clientTools.unregister('default', 'phone', 'wipe');
    const digest = asked.approval?.digest ?? '';
    await engine.calls.decide(operator, asked.id, { decision: 'allow', digest, note: null });
    await settled();
    expect(line.got).toEqual([]);
    const got = (): Call[] => (polls ? engine.clientQueues.unacknowledged('default', 'phone') : line.got);
    expect(got()).toEqual([]);
    await engine.clientTools.register('default', 'phone', [wipe]);
    expect(got().map(({ id }) => id)).toEqual([asked.id]);
    await engine.clientTools.register('default', 'phone', [wipe]);
    expect(line.got.map(({ id }) => id)).toEqual([asked.id]);
  });

  it('tells the client when a call it has seen is cancelled', async () => {
    const { engine, invoke } = await withClientTool();
    const line = connection();
    engine.clientQueues.attach('default', 'phone', line);
    const id = await invoke();
    expect(await engine.calls.cancel(agent, id)).toMatchObject({
      ok: true,
      value: { state: { error: { outcome: 'unknown' } } },
    });
    await settled();
    expect(line.withdrawn).toEqual([id]);
  });

  it('reports a call that was never sent as not started', async () => {
    const { engine, invoke } = await withClientTool();
    const id = await invoke();
    expect(await engine.calls.cancel(agent, id)).toMatchObject({
      ok: true,
      value: { state: { error: { outcome: 'not_started' } } },
    });
  });
});

describe('registration', () => {
  it('takes and rejects tool by tool', async () => {
    const { engine } = await withClientTool();
    const bad = { type: 'strnig' };
    const report = await engine.clientTools.register('default', 'tablet', [
      { name: 'camera', schema: {} },
      { name: 'bad name', schema: {} },
      { name: 'broken', schema: bad },
      { name: 'sneaky', schema: {}, description: 'hello\u200bworld' },
      { name: 'filled', schema: {}, description: 'hello\u3164world' },
      { name: '__proto__', schema: {} },
      { name: 'Camera', schema: {} },
      { name: 'fine', schema: {} },
    ]);
    expect(report.registered.map((tool) => tool.name)).toEqual(['fine']);
    expect(report.rejected.map(({ name, code }) => [name, code])).toEqual([
      ['camera', 'name_taken'],
      ['bad name', 'name_invalid'],
      ['broken', 'schema_invalid'],
      ['sneaky', 'schema_invalid'],
      ['filled', 'schema_invalid'],
      ['__proto__', 'name_invalid'],
      ['Camera', 'name_taken'],
    ]);
  });

  it('keeps tools over a restart, under the same wire names', async () => {
    const { engine, store } = await withClientTool();
    const long = `x.${'y'.repeat(100)}`;
    const { rejected } = await engine.clientTools.register('default', 'phone', [
      { name: 'c__d', schema: {} },
      { name: long, schema: {} },
      { name: 'a.b', schema: {} },
      { name: 'a__b', schema: {} },
    ]);
    expect(rejected).toMatchObject([
      {
        name: 'a__b',
        code: 'name_taken',
        reason: expect.stringContaining('a__b is the wire name of a.b, which belongs to client') as string,
      },
    ]);
    const before = engine.tools(agent).map(({ name, wireName, version }) => ({ name, wireName, version }));
    expect(new Set(before.map((tool) => tool.wireName)).size).toBe(before.length);
    const { engine: next } = await anEngine({ store });
    expect(next.tools(agent).map(({ name, wireName, version }) => ({ name, wireName, version }))).toEqual(
      before,
    );
    for (const { name, wireName } of before)
      expect(next.toolIndex.find('default', wireName)?.name).toBe(name);
    expect(await next.clientTools.unregister('default', 'phone', 'a.b')).toEqual(['a.b']);
    expect(await next.clientTools.unregister('default', 'phone', null)).toEqual(['c__d', 'camera', long]);
    expect(next.tools(agent)).toEqual([]);
  });
});

describe('a cancel that is committed while a client reports', () => {
  /** The cancel begins `turns` microtasks before the client's message. */
  async function raced(turns: number, say: (fixture: EngineFixture, call: Call) => Promise<unknown>) {
    const fixture = await withClientTool();
    const id = await fixture.invoke();
    const call = (await fixture.engine.calls.find(agent, id))!;
    const cancelled = fixture.engine.calls.cancel(agent, id);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    const said = await say(fixture, call);
    return { said, cancelled: await cancelled, call: await fixture.engine.calls.find(agent, id) };
  }

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    'is reported to an acknowledgement and to an unreadable result, %d microtasks later',
    async (turns) => {
      const acknowledged = await raced(turns, ({ engine }, { id }) =>
        engine.clients.acknowledge(phone, id, null),
      );
      expect(acknowledged.call?.state.name).toBe('CANCELLED');
      expect(acknowledged.said).toHaveProperty('ok');
      const rejected = await raced(turns, ({ engine }, call) =>
        engine.clients.reject(phone, call.id, {
          attemptToken: attemptToken(call),
          why: [foreignText('no JSON')],
          text: '{',
        }),
      );
      expect(['CANCELLED', 'FAILED']).toContain(rejected.call?.state.name);
      expect(rejected.said).toHaveProperty('ok');
    },
  );
});
