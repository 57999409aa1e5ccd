import { expect, it } from 'vitest';
import type { ListedDevice } from '../../core/device-directory.ts';
import { REPORT, sharedStores } from './shared-stores.contract.ts';

function aListed(session: string, given: Partial<ListedDevice> = {}): ListedDevice {
  return {
    session,
    firstSession: session,
    tenant: 'acme',
    clientId: 'phone',
    name: `name of ${session}`,
    isOnline: true,
    connectedAt: 1,
    tools: ['camera'],
    ...given,
  };
}

it('the devices of other nodes are found by name, session and client, until their node is gone', async () => {
  const { open } = await sharedStores(15);
  const [a, b] = [await open(), await open()];
  const [ofA, ofB] = [a.store.devices!, b.store.devices!];
  const one = aListed('ds_1', { tools: ['camera', 'a "quoted", {tool}'] });
  await ofA.save([one, aListed('ds_2', { tenant: 'other' }), aListed('ds_3', { tools: [] })], []);
  await ofB.save([aListed('ds_4')], []);
  const query = { tenant: 'acme', before: null, limit: 10 };
  expect(await ofB.listElsewhere(query)).toEqual([
    { ...aListed('ds_3', { tools: [] }), openCalls: 0 },
    { ...one, openCalls: 0 },
  ]);
  expect(await ofB.listElsewhere({ ...query, before: 'ds_3', limit: 1 })).toMatchObject([
    { session: 'ds_1' },
  ]);
  expect(await ofB.listElsewhere({ ...query, clientId: 'watch' })).toEqual([]);
  expect([await ofB.countElsewhere('acme'), await ofA.countElsewhere('acme')]).toEqual([2, 1]);
  for (const target of ['ds_1', 'name of ds_1', 'phone'])
    expect(await ofB.offersElsewhere('acme', 'camera', target)).toBe(true);
  expect(await ofB.offersElsewhere('acme', 'a "quoted", {tool}', 'ds_1')).toBe(true);
  expect(await ofA.offersElsewhere('acme', 'camera', 'ds_1')).toBe(false);
  for (const [tenant, tool, target] of [
    ['other', 'camera', 'ds_1'],
    ['acme', 'door', 'ds_1'],
    ['acme', 'camera', 'ds_3'],
  ] as const)
    expect(await ofB.offersElsewhere(tenant, tool, target)).toBe(false);

  await ofA.save([aListed('ds_1', { isOnline: false, tools: [] })], ['ds_3']);
  expect(await ofB.listElsewhere(query)).toEqual([
    { ...aListed('ds_1', { isOnline: false, tools: [] }), openCalls: 0 },
  ]);
  expect(await ofB.countElsewhere('acme')).toBe(0);
  const { nodes } = await b.table.beat(REPORT);
  await b.table.takeOver(nodes.find(({ writer }) => writer === a.table.self.writer)!);
  expect(await ofB.listElsewhere(query)).toEqual([]);
  expect(await ofB.countElsewhere('other')).toBe(0);
});
