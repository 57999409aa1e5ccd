import { describe, expect, it } from 'vitest';
import { aDevice } from '../../test/support/a-device.ts';
import { aRequest } from '../../test/support/an-engine.ts';
import { me } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { StorageUnavailable } from './failures.ts';

const CAMERA = { name: 'camera', schema: { type: 'object' } };
const DOOR = { name: 'door', schema: { type: 'object' } };

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('the target of a call, %s', (_name, notifies) => {
  it('is a device of any node that offers the tool; every other one is refused as on a single node', async () => {
    const { nodes, a, b, heal } = await engineNodes({}, { notifies, count: 3 });
    const far = await aDevice(a.engine, [CAMERA], 'phone', { name: 'far' });
    await aDevice(b.engine, [DOOR], 'phone', { name: 'near' });
    await heal();
    const refusal = (target: string, toolName = 'camera'): Promise<unknown> =>
      nodes[2]!.engine.submit({ ...aRequest({ toolName }), target }, me);
    for (const [target, tool] of [['near'], ['nobody'], ['far', 'door']] as const)
      expect(await refusal(target, tool)).toMatchObject({
        kind: 'refused',
        failure: { code: 'provider_offline' },
      });
    for (const target of ['far', far.device.session, 'phone'])
      await submitTo(nodes[2]!, { toolName: 'camera', target });
    await heal();
    expect(far.requests).toHaveLength(3);

    a.engine.devices.disconnect(far.device, 'left');
    await settled();
    await heal();
    expect(await refusal('far')).toMatchObject({ kind: 'refused' });
  });

  it('is a device that its node cannot send to yet: no stream or poll of the client at another node gets the call', async () => {
    const { nodes, a, b, heal } = await engineNodes({}, { notifies, count: 3 });
    for (const { engine } of nodes) await engine.clientTools.register('default', 'phone', [CAMERA]);
    const { requests } = await aDevice(a.engine, [CAMERA], 'phone', { name: 'far' });
    const delivered: string[] = [];
    b.engine.clientQueues.attach('default', 'phone', {
      deliver: ({ id }) => void delivered.push(id),
      withdraw: () => undefined,
    });
    await heal();
    a.peers.leased = false;
    const call = await submitTo(nodes[2]!, { toolName: 'camera', target: 'far' });
    await heal();
    await b.engine.callsElsewhere.collect('default', 'phone');
    expect(b.engine.clientQueues.unacknowledged('default', 'phone')).toEqual([]);
    a.peers.leased = true;
    for (const { peers } of nodes) await peers.poll();
    await heal();
    expect([delivered, requests.map(({ id }) => id)]).toEqual([[], [call.id]]);
  });

  it('is found in the list of devices, which every node has', async () => {
    const { nodes, a, b, clock, heal } = await engineNodes({}, { notifies });
    const one = await aDevice(a.engine, [CAMERA]);
    await clock.advance(1);
    const two = await aDevice(b.engine, [DOOR]);
    await heal();
    const query = { tenant: 'default', before: null, limit: 10 };
    for (const { engine } of nodes)
      expect(await engine.devices.list(query)).toMatchObject([
        { session: two.device.session, tools: ['door'], isOnline: true },
        { session: one.device.session, tools: ['camera'], isOnline: true },
      ]);
    expect(await a.engine.devices.list({ ...query, limit: 1, before: two.device.session })).toHaveLength(1);
    b.engine.devices.disconnect(two.device, 'left');
    await heal();
    expect(await a.engine.devices.list(query)).toMatchObject([{ session: one.device.session }]);
  });
});

describe('a device whose record cannot be written', () => {
  const query = { tenant: 'default', before: null, limit: 10 };

  it('is known to the other nodes as it is by then, once writes succeed again', async () => {
    const { a, b, clock, heal } = await engineNodes({});
    const { device } = await aDevice(a.engine, [CAMERA]);
    await heal();
    a.peers.devicesFail = true;
    await expect(a.engine.devices.offer(device, [DOOR])).rejects.toThrow(StorageUnavailable);
    await clock.advance(60_000);
    await expect(a.engine.devices.takeBack(device, ['camera'])).rejects.toThrow(StorageUnavailable);
    expect(await b.engine.devices.list(query)).toMatchObject([{ tools: ['camera'] }]);
    a.peers.devicesFail = false;
    await clock.advance(10_000);
    expect(await b.engine.devices.list(query)).toMatchObject([{ tools: ['door'], isOnline: true }]);
  });

  it('is removed once writes succeed again, if it has left', async () => {
    const { a, b, clock, heal } = await engineNodes({});
    const { device } = await aDevice(a.engine, [CAMERA]);
    await heal();
    a.peers.devicesFail = true;
    a.engine.devices.disconnect(device, 'left');
    await heal();
    a.peers.devicesFail = false;
    expect(await b.engine.devices.list(query)).toHaveLength(1);
    await clock.advance(10_000);
    expect(await b.engine.devices.list(query)).toEqual([]);
  });

  it('is not written again by a node that was fenced', async () => {
    const { a, b, clock, heal } = await engineNodes({});
    const { device } = await aDevice(a.engine, [CAMERA]);
    await heal();
    a.peers.fence('another node has taken over this one');
    a.peers.devicesFail = true;
    a.engine.devices.disconnect(device, 'left');
    await heal();
    a.peers.devicesFail = false;
    await clock.advance(10_000);
    expect(await b.engine.devices.list(query)).toHaveLength(1);
  });
});
