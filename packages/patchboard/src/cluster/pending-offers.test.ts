import { expect, it } from 'vitest';
import { StorageUnavailable } from '../core/failures.ts';
import { PendingOffers } from './pending-offers.ts';

interface Offered {
  readonly id: string;
  readonly version: number;
  readonly clientId: string | null;
}

const work = (number: number): Offered => ({ id: `call_${number}`, version: 1, clientId: null });

/** Pending offers, and what is marked of them. */
class Scene {
  readonly marks: string[][] = [];
  held: Offered[] = [];
  hasOthers = true;
  isDown = false;
  notified = 0;
  whileMarking = (): void => {};
  readonly pending: PendingOffers = new PendingOffers({
    table: {
      offer: async (calls) => {
        this.whileMarking();
        if (this.isDown) throw new StorageUnavailable('the database cannot be reached');
        this.marks.push(calls.map(({ id, version }) => `${id} ${version}`));
      },
    },
    hasOthers: () => this.hasOthers,
    held: () => this.held,
    marked: () => void (this.notified += 1),
  });
}

it('keeps calls whose write failed, and marks them once', async () => {
  const scene = new Scene();
  scene.held = [work(1), { ...work(2), clientId: 'phone' }];
  scene.pending.add(scene.held);
  scene.isDown = true;
  await expect(scene.pending.offer()).rejects.toThrow(StorageUnavailable);
  expect([scene.pending.size, scene.notified]).toEqual([2, 0]);
  scene.isDown = false;
  await scene.pending.offer();
  await scene.pending.offer();
  expect([scene.marks, scene.pending.size, scene.notified]).toEqual([[['call_1 1', 'call_2 1']], 0, 1]);
});

it('keeps calls until there is another node, but none that has moved or is not held any more', async () => {
  const scene = new Scene();
  scene.hasOthers = false;
  scene.pending.add([work(1), work(2), work(3)]);
  scene.held = [{ ...work(1), version: 2 }, work(3), work(4)];
  await scene.pending.offer();
  expect([scene.marks, scene.pending.size]).toEqual([[], 1]);
  scene.hasOthers = true;
  await scene.pending.offer();
  expect([scene.marks, scene.pending.size]).toEqual([[['call_3 1']], 0]);
});

it('marks a backlog in several writes, and no calls of clients as work', async () => {
  const scene = new Scene();
  scene.pending.add(Array.from({ length: 1100 }, (_, number) => ({ ...work(number), clientId: 'phone' })));
  await scene.pending.offer();
  expect([scene.marks.map(({ length }) => length), scene.notified]).toEqual([[500, 500, 100], 0]);
});

it('keeps a call that is offered at a later version while it is being marked', async () => {
  const scene = new Scene();
  scene.pending.add([work(1)]);
  scene.whileMarking = () => {
    scene.whileMarking = () => {};
    scene.pending.add([{ ...work(1), version: 2 }]);
  };
  await scene.pending.offer();
  expect(scene.marks).toEqual([['call_1 1'], ['call_1 2']]);
});
