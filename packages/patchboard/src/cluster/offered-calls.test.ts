import { expect, it } from 'vitest';
import type { OfferedCall } from './node-table.ts';
import { OfferedCalls } from './offered-calls.ts';

function anOffer(number: number, tenant: string, toolName = 'work'): OfferedCall {
  return { id: `tc_${String(number).padStart(6, '0')}`, tenant, toolName, toolVersion: '1' };
}

/** Offered calls, and the ids of those that a node takes. */
class Scene {
  readonly taken: string[] = [];
  reads = 0;
  room = 4;
  readonly roomOf: Record<string, number> = {};
  offers: OfferedCall[] = [];
  readonly calls: OfferedCalls = new OfferedCalls({
    table: {
      offered: async (limit, after) => {
        this.reads += 1;
        return this.offers.filter(({ id }) => id > after).slice(0, limit);
      },
      takeOffered: async (ids) => {
        this.taken.push(...ids);
        this.offers = this.offers.filter(({ id }) => !ids.includes(id));
        return [];
      },
    },
    taken: { passFromOthers: async () => {} },
    room: (tenant) => (tenant === null ? this.room : (this.roomOf[tenant] ?? 100)),
    hasTool: (_tenant, toolName) => toolName === 'work',
  });
}

it('finds calls behind old ones of a tenant without room, and of a tool that the node does not have', async () => {
  for (const blocked of [{ tenant: 'full' }, { toolName: 'missing' }]) {
    const scene = new Scene();
    scene.roomOf['full'] = 0;
    scene.offers = Array.from({ length: 450 }, (_, number) => ({ ...anOffer(number, 'acme'), ...blocked }));
    const free = [anOffer(450, 'acme'), anOffer(451, 'acme')];
    scene.offers.push(...free);
    await scene.calls.take();
    expect(scene.taken).toEqual(free.map(({ id }) => id));
  }
});

it('reads a bounded number of calls at a time, and goes on behind them the next time', async () => {
  const scene = new Scene();
  scene.roomOf['full'] = 0;
  const blocked = Array.from({ length: 2500 }, (_, number) => anOffer(number, 'full'));
  scene.offers = [...blocked, anOffer(2500, 'acme')];
  await scene.calls.take();
  expect([scene.taken, scene.reads]).toEqual([[], 5]);
  await scene.calls.take();
  await scene.calls.take();
  expect(scene.taken).toEqual([anOffer(2500, 'acme').id]);
  // From the oldest again.
  delete scene.roomOf['full'];
  await scene.calls.take();
  expect(scene.taken.slice(1)).toEqual(blocked.slice(0, 4).map(({ id }) => id));
});

it('takes one call of each tenant in turn, and of none more than it can run', async () => {
  const scene = new Scene();
  scene.roomOf['small'] = 1;
  const tenants = ['busy', 'busy', 'busy', 'busy', 'small', 'small', 'late'];
  scene.offers = tenants.map((tenant, number) => anOffer(number, tenant));
  await scene.calls.take();
  expect(scene.taken).toEqual([0, 4, 6, 1].map((number) => anOffer(number, '').id));
});

it('reads nothing without room', async () => {
  const scene = new Scene();
  scene.room = 0;
  scene.offers = [anOffer(1, 'acme')];
  await scene.calls.take();
  expect([scene.taken, scene.reads]).toEqual([[], 0]);
});
