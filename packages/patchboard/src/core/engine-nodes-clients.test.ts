import { describe, expect, it, vi } from 'vitest';
import { aDevice } from '../../test/support/a-device.ts';
import { aPrincipal } from '../../test/support/an-engine.ts';
import { me, PARIS } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo, type EngineNode, type EngineNodes } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';
import type { Call } from './call/call.ts';
import { attemptToken, requestId } from './devices/request-id.ts';
import { StorageUnavailable } from './failures.ts';

const phone = aPrincipal({ clientId: 'phone' });
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const CAMERA = { name: 'camera', schema: { type: 'object' }, timeout_ms: 600_000 };
const RISKY = { name: 'wipe', schema: { type: 'object' }, annotations: { destructive: true } };
const result = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;

async function clientNodes(notifies: boolean, count = 2): Promise<EngineNodes> {
  const nodes = await engineNodes({}, { notifies, count });
  for (const { engine } of nodes.nodes)
    await engine.clientTools.register('default', 'phone', [CAMERA, RISKY]);
  return nodes;
}

/** A stream of the client at the node. */
function aStream({ engine }: EngineNode): { delivered: string[]; withdrawn: string[]; detach: () => void } {
  const delivered: string[] = [];
  const withdrawn: string[] = [];
  const detach = engine.clientQueues.attach('default', 'phone', {
    deliver: ({ id }) => void delivered.push(id),
    withdraw: (id) => void withdrawn.push(id),
  });
  return { delivered, withdrawn, detach: () => detach() };
}

async function polled({ engine }: EngineNode): Promise<string[]> {
  await engine.callsElsewhere.collect('default', 'phone');
  return engine.clientQueues.unacknowledged('default', 'phone').map(({ id }) => id);
}

function heldBy({ nodes }: EngineNodes): number[] {
  return nodes.map(({ engine }) => engine.load().open);
}

async function stored({ store }: EngineNodes, { id }: Pick<Call, 'id'>): Promise<Call> {
  return (await store.findCall(id))!;
}

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a call for a client that is connected to another node, %s', (_name, notifies) => {
  it('runs on the device there, and its result comes to the node that took the call', async () => {
    const nodes = await clientNodes(notifies);
    const { a, b, heal, stateOf } = nodes;
    const { device, requests } = await aDevice(a.engine, [CAMERA]);
    const call = await submitTo(b, { toolName: 'camera' });
    const waiting = b.engine.calls.wait(me, call.id, 60_000);
    await heal();
    expect(requests.map(({ id }) => id)).toEqual([call.id]);
    expect(await stored(nodes, call)).toMatchObject({ state: { name: 'EXECUTING', device: 'phone' } });
    expect([heldBy(nodes), device.calls.size]).toEqual([[1, 0], 1]);
    await b.engine.clients.submit(phone, call.id, result);
    await heal();
    expect(await stateOf(call)).toBe('COMPLETED');
    expect((await waiting)?.state.name).toBe('COMPLETED');
    expect([heldBy(nodes), device.calls.size]).toEqual([[0, 0], 0]);
  });

  it('runs once if two other nodes have a device', async () => {
    const nodes = await clientNodes(notifies, 3);
    const devices = [await aDevice(nodes.a.engine, [CAMERA]), await aDevice(nodes.b.engine, [CAMERA])];
    const call = await submitTo(nodes.nodes[2]!, { toolName: 'camera' });
    await nodes.heal();
    await nodes.heal();
    expect(devices.flatMap(({ requests }) => requests.map(({ id }) => id))).toEqual([call.id]);
    expect(devices.map(({ device }) => device.reserved)).toEqual([0, 0]);
    expect(heldBy(nodes).toSorted((one, other) => one - other)).toEqual([0, 0, 1]);
  });

  it('goes to the device that its target names', async () => {
    const nodes = await clientNodes(notifies, 3);
    const camera = await aDevice(nodes.a.engine, [CAMERA], 'phone', { name: 'left' });
    const other = await aDevice(nodes.b.engine, [CAMERA], 'phone', { name: 'right' });
    await submitTo(nodes.nodes[2]!, { toolName: 'camera', target: 'right' });
    await nodes.heal();
    expect([camera.requests.length, other.requests.length]).toEqual([0, 1]);
  });

  it('is sent when the device connects after the call was taken', async () => {
    const nodes = await clientNodes(notifies);
    const call = await submitTo(nodes.b, { toolName: 'camera' });
    const { requests } = await aDevice(nodes.a.engine, [CAMERA]);
    await settled();
    expect(requests.map(({ id }) => id)).toEqual([call.id]);
  });

  it('is not taken from the node that delivers it, when a notification is late', async () => {
    const nodes = await clientNodes(notifies, 3);
    const [a, b, c] = nodes.nodes;
    const [first, second] = [aStream(a!), aStream(b!)];
    c!.peers.notifies = false;
    const call = await submitTo(c!, { toolName: 'camera' });
    await a!.peers.poll();
    await settled();
    c!.peers.notifies = true;
    c!.peers.wakeClient(call);
    await settled();
    expect([first.delivered, second.delivered]).toEqual([[call.id], []]);
  });

  it('is delivered to the stream there once, and moves on when the stream ends', async () => {
    const nodes = await clientNodes(notifies, 3);
    const [a, b, c] = nodes.nodes;
    const first = aStream(a!);
    const call = await submitTo(c!, { toolName: 'camera' });
    await nodes.heal();
    await nodes.heal();
    expect([first.delivered, heldBy(nodes)]).toEqual([[call.id], [1, 0, 0]]);
    const second = aStream(b!);
    await nodes.heal();
    // A new connection gets every call that is not acknowledged, as on one node.
    expect([second.delivered, heldBy(nodes)]).toEqual([[call.id], [0, 1, 0]]);
    second.detach();
    await nodes.heal();
    expect([first.delivered, heldBy(nodes)]).toEqual([
      [call.id, call.id],
      [1, 0, 0],
    ]);
    expect(await c!.engine.clients.acknowledge(phone, call.id, null)).toMatchObject({
      ok: true,
      repeated: false,
    });
    first.detach();
    await nodes.heal();
    expect([first.withdrawn, heldBy(nodes)]).toEqual([[], [0, 0, 1]]);
  });

  it('is withdrawn from the stream when another node cancels it', async () => {
    const { a, b, heal } = await clientNodes(notifies);
    const stream = aStream(a);
    const call = await submitTo(b, { toolName: 'camera' });
    await heal();
    await b.engine.calls.cancel(me, call.id);
    await heal();
    expect(stream).toMatchObject({ delivered: [call.id], withdrawn: [call.id] });
  });

  it('is returned by a poll at any node, until it is acknowledged at any node', async () => {
    const nodes = await clientNodes(notifies, 3);
    const calls = [
      await submitTo(nodes.a, { toolName: 'camera' }),
      await submitTo(nodes.b, { toolName: 'camera' }),
    ];
    const ids = calls.map(({ id }) => id).toSorted();
    for (const node of nodes.nodes) expect((await polled(node)).toSorted()).toEqual(ids);
    await nodes.a.engine.clients.acknowledge(phone, ids[0]!, null);
    for (const node of nodes.nodes) expect(await polled(node)).toEqual([ids[1]]);
  });

  it('runs after an approval at a third node', async () => {
    const { nodes, heal, stateOf } = await clientNodes(notifies, 3);
    const [a, b, c] = nodes;
    const { requests } = await aDevice(a!.engine, [RISKY]);
    const call = await submitTo(b!, { toolName: 'wipe' });
    const decision = { decision: 'allow', digest: call.approval?.digest ?? '', note: null } as const;
    expect(await c!.engine.calls.decide(operator, call.id, decision)).toMatchObject({ ok: true });
    await heal();
    expect([requests.length, await stateOf(call)]).toEqual([1, 'EXECUTING']);
  });

  it('asks its caller at one node, and the device gets what was responded at another', async () => {
    const nodes = await clientNodes(notifies, 3);
    const [a, b, c] = nodes.nodes;
    const { responses } = await aDevice(a!.engine, [CAMERA]);
    const { id } = await submitTo(b!, { toolName: 'camera' });
    await nodes.heal();
    const asked = {
      key: 'k',
      attemptToken: attemptToken(await stored(nodes, { id })) ?? '',
      request: { message: 'Which?', schema: {} },
    };
    expect(await a!.engine.clientInputs.request(phone, id, asked)).toMatchObject({ ok: true });
    expect(await c!.engine.calls.respond(me, id, { ...PARIS, content: 1 })).toMatchObject({ ok: true });
    await nodes.heal();
    expect([responses.length, await nodes.stateOf({ id })]).toEqual([1, 'EXECUTING']);
  });
});

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a device that returns to another node, %s', (_name, notifies) => {
  it('takes its calls along, and its first connection is replaced', async () => {
    const nodes = await clientNodes(notifies);
    const { a, b, heal, stateOf, clock } = nodes;
    const before = await aDevice(a.engine, [CAMERA]);
    const [working, unsent] = [
      await submitTo(a, { toolName: 'camera' }),
      await submitTo(b, { toolName: 'camera' }),
    ];
    await heal();
    expect(heldBy(nodes)).toEqual([2, 0]);
    const after = await aDevice(b.engine, [CAMERA], 'phone', {
      resume: before.device.resumeToken,
      holding: [requestId(await stored(nodes, working))],
    });
    await heal();
    expect(heldBy(nodes)).toEqual([0, 2]);
    // It works on the first call, and the request of the second was lost on the way.
    expect([after.requests.map(({ id }) => id), after.cancelled]).toEqual([[unsent.id], []]);
    expect([after.device.calls.size, before.device.calls.size]).toEqual([2, 0]);
    expect(before.isReplaced()).toBe(notifies);
    // Without the notification the first connection ends by itself.
    if (!notifies) a.engine.devices.disconnect(before.device, 'lost');
    await clock.advance(20_000);
    expect(await stateOf(working)).toBe('EXECUTING');
    await a.engine.clients.submit(phone, working.id, result);
    expect(await stateOf(working)).toBe('COMPLETED');
    expect([...a.ended, ...b.ended]).toEqual([working.id]);
  });

  it('continues its session at one of two nodes, its own and another, that it returns to at once', async () => {
    for (const isOwnFirst of [true, false]) {
      const nodes = await clientNodes(notifies);
      const { a, b, heal, stateOf, store } = nodes;
      const before = await aDevice(a.engine, [CAMERA]);
      const working = await submitTo(a, { toolName: 'camera' });
      const unsent = await submitTo(a, { toolName: 'camera' });
      await heal();
      const holding = [requestId(await stored(nodes, working))];
      const order = isOwnFirst ? [a, b] : [b, a];
      const [first, second] = await Promise.all(
        order.map(({ engine }) =>
          aDevice(engine, [CAMERA], 'phone', { resume: before.device.resumeToken, holding }),
        ),
      );
      const both = [first!, second!];
      await heal();
      await nodes.clock.advance(60_000);
      await heal();
      expect(both.filter(({ isResumed }) => isResumed)).toHaveLength(1);
      // The request that was lost on the way is sent again once, and each call is with one connection.
      expect(both.flatMap(({ requests }) => requests.map(({ id }) => id))).toEqual([unsent.id]);
      expect(both.flatMap(({ device }) => [...device.calls].map(({ call }) => call.id)).toSorted()).toEqual([
        working.id,
        unsent.id,
      ]);
      expect(both.flatMap(({ cancelled }) => cancelled)).toEqual([]);
      for (const { id } of [working, unsent]) {
        expect((await store.findCall(id))?.state).toMatchObject({ name: 'EXECUTING', attempt: 1 });
        await b.engine.clients.submit(phone, id, result);
        expect(await stateOf({ id })).toBe('COMPLETED');
      }
      expect([...a.ended, ...b.ended].toSorted()).toEqual([working.id, unsent.id]);
    }
  });

  it('may return once more, to the first node', async () => {
    const nodes = await clientNodes(notifies);
    const first = await aDevice(nodes.a.engine, [CAMERA]);
    const call = await submitTo(nodes.a, { toolName: 'camera' });
    const second = await aDevice(nodes.b.engine, [CAMERA], 'phone', { resume: first.device.resumeToken });
    await nodes.heal();
    nodes.b.engine.devices.disconnect(second.device, 'lost');
    const third = await aDevice(nodes.a.engine, [CAMERA], 'phone', { resume: second.device.resumeToken });
    await nodes.heal();
    expect([heldBy(nodes), [...third.device.calls].map((live) => live.call.id)]).toEqual([[1, 0], [call.id]]);
    await nodes.clock.advance(20_000);
    expect(await nodes.stateOf(call)).toBe('EXECUTING');
  });

  it('continues there after its node is gone', async () => {
    const nodes = await clientNodes(notifies, 3);
    const [a, b, c] = nodes.nodes;
    const before = await aDevice(a!.engine, [CAMERA]);
    const call = await submitTo(a!, { toolName: 'camera' });
    await c!.peers.orphaned(nodes.store.openCalls());
    const after = await aDevice(b!.engine, [CAMERA], 'phone', { resume: before.device.resumeToken });
    await nodes.heal();
    await nodes.clock.advance(120_000);
    expect([after.device.calls.size, await nodes.stateOf(call)]).toEqual([1, 'EXECUTING']);
  });

  it('takes the calls that it lists, also without a token, and learns which have ended', async () => {
    const nodes = await clientNodes(notifies);
    await aDevice(nodes.a.engine, [CAMERA]);
    const call = await submitTo(nodes.a, { toolName: 'camera' });
    const gone = await submitTo(nodes.a, { toolName: 'camera' });
    const holding = [requestId(await stored(nodes, call)), requestId(await stored(nodes, gone))];
    await nodes.a.engine.calls.cancel(me, gone.id);
    const after = await aDevice(nodes.b.engine, [CAMERA], 'phone', { holding });
    await nodes.heal();
    expect([after.device.calls.size, after.cancelled]).toEqual([1, ['ended']]);
    expect(heldBy(nodes)).toEqual([0, 1]);
  });

  it('cannot take a session of another client', async () => {
    const nodes = await clientNodes(notifies);
    const before = await aDevice(nodes.a.engine, [CAMERA]);
    await submitTo(nodes.a, { toolName: 'camera' });
    const other = await aDevice(nodes.b.engine, [], 'tablet', { resume: before.device.resumeToken });
    await nodes.heal();
    expect([other.device.calls.size, heldBy(nodes), before.isReplaced()]).toEqual([0, [1, 0], false]);
  });
});

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a device that leaves while its tools are being registered, %s', (_name, notifies) => {
  it('leaves none of them behind, at no node', async () => {
    const { nodes, a, clock, store, heal } = await engineNodes({}, { notifies });
    const { device } = await aDevice(a.engine, []);
    const specs = Array.from({ length: 25 }, (_, index) => ({ ...CAMERA, name: `camera.lens${index}` }));
    const offered = a.engine.devices.offer(device, specs);
    await settled();
    expect(a.engine.toolIndex.list('default').length).toBeGreaterThan(0);
    a.engine.devices.disconnect(device, 'left');
    await clock.advance(10);
    expect((await offered).registered).toEqual([]);
    await heal();
    await heal();
    expect(nodes.map(({ engine }) => engine.toolIndex.list('default'))).toEqual([[], []]);
    const rows = await store.readLedger({ kinds: ['registry.changed'] }, 0, 100);
    const bodies = rows.map(({ row }) => JSON.parse(row.body) as Record<string, unknown>);
    expect(bodies.filter((body) => 'registered' in body)).toEqual([]);
  });
});

describe('an approved call whose tool was removed', () => {
  it('is sent over the stream at its node when the client registers the tool at another one', async () => {
    const { a, b, heal } = await clientNodes(true);
    const { delivered } = aStream(a);
    const call = await submitTo(a, { toolName: 'wipe' });
    await b.engine.clientTools.unregister('default', 'phone', 'wipe');
    const digest = call.approval?.digest ?? '';
    await a.engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null });
    await heal();
    expect(delivered).toEqual([]);
    await b.engine.clientTools.register('default', 'phone', [RISKY]);
    await heal();
    expect(delivered).toEqual([call.id]);
  });
});

describe('a call that a poll claims while a device takes it', () => {
  it('is sent to the device, once', async () => {
    const nodes = await clientNodes(true);
    const { engine } = nodes.a;
    const call = await submitTo(nodes.a, { toolName: 'camera' });
    const { device, requests } = await aDevice(engine, []);
    await engine.devices.offer(device, [CAMERA]);
    const polls = polled(nodes.a);
    engine.devices.sendWaiting(device, ['camera']);
    expect(await polls).toEqual([]);
    await settled();
    expect(requests.map(({ id }) => id)).toEqual([call.id]);
    expect(await stored(nodes, call)).toMatchObject({ state: { name: 'EXECUTING', attempt: 1 } });
  });
});

describe('tools that a device took back while the store could not be written', () => {
  /** The store of all nodes: no tool can be removed until the returned function is called. */
  function away(store: EngineNodes['store']): () => void {
    const removals = vi.spyOn(store, 'removeTools').mockImplementation(() => {
      throw new StorageUnavailable('the database is away');
    });
    return () => removals.mockRestore();
  }

  function listed({ nodes }: EngineNodes): string[][] {
    return nodes.map(({ engine }) => engine.toolIndex.list('default').map(({ name }) => name));
  }

  it('are removed from the list of every node once writes succeed again', async () => {
    const nodes = await engineNodes({});
    const { a, clock, store, heal } = nodes;
    const { device } = await aDevice(a.engine, [CAMERA, RISKY]);
    await heal();
    expect(listed(nodes)[1]).toEqual(['camera', 'wipe']);
    const back = away(store);
    await expect(a.engine.devices.takeBack(device, ['wipe'])).rejects.toThrow(StorageUnavailable);
    a.engine.devices.disconnect(device, 'left');
    await clock.advance(60_000);
    expect(listed(nodes)[1]).toEqual(['camera', 'wipe']);
    back();
    await clock.advance(2_000);
    expect(listed(nodes)).toEqual([[], []]);
    const removals = vi.spyOn(store, 'removeTools');
    await clock.advance(60_000);
    expect(removals).not.toHaveBeenCalled();
  });

  /** A device has left a node while its store was away. `back` ends that. */
  async function departed(): Promise<EngineNodes & { readonly back: () => void }> {
    const nodes = await engineNodes({});
    const { a, store, heal } = nodes;
    const { device } = await aDevice(a.engine, [CAMERA]);
    await heal();
    const back = away(store);
    a.engine.devices.disconnect(device, 'left');
    return { ...nodes, back };
  }

  it('stay if a device of the node offers them again', async () => {
    const nodes = await departed();
    const { a, clock, heal, back } = nodes;
    await clock.advance(5_000);
    const { requests } = await aDevice(a.engine, [CAMERA]);
    back();
    await clock.advance(5_000);
    expect(listed(nodes)).toEqual([['camera'], ['camera']]);
    const call = await submitTo(nodes.b, { toolName: 'camera' });
    await heal();
    expect(requests.map(({ id }) => id)).toEqual([call.id]);
  });

  it('are not removed by a node that was fenced', async () => {
    const nodes = await departed();
    const { a, clock, back } = nodes;
    await clock.advance(1_500);
    a.peers.fence('another node has taken over this one');
    back();
    await clock.advance(60_000);
    expect(listed(nodes)[1]).toEqual(['camera']);
  });
});
