import { expect, it } from 'vitest';
import { StorageUnavailable } from './failures.ts';
import { PendingWrites } from './pending-writes.ts';

/** Pending writes of numbers, and what was written. */
class Scene {
  readonly written: number[][] = [];
  isDown = false;
  during = (): void => {};
  readonly pending: PendingWrites<number> = new PendingWrites<number>({
    write: async (items) => {
      this.during();
      await Promise.resolve();
      if (this.isDown) throw new StorageUnavailable('the database cannot be reached');
      this.written.push([...items]);
    },
  });
}

it('writes what is added in one turn together, and each item once', async () => {
  const { pending, written } = new Scene();
  pending.add('a', 1);
  const first = pending.flush();
  pending.add('b', 2);
  await Promise.all([first, pending.flush()]);
  await pending.flush();
  expect([written, pending.size]).toEqual([[[1, 2]], 0]);
});

it('keeps what a failed write took, as it is when the next one succeeds', async () => {
  const scene = new Scene();
  const { pending } = scene;
  scene.isDown = true;
  pending.add('a', 1);
  pending.add('b', 2);
  await expect(pending.flush()).rejects.toThrow(StorageUnavailable);
  pending.add('a', 3);
  pending.keep((_key, item) => item !== 2);
  scene.isDown = false;
  await pending.flush();
  expect([scene.written, pending.size]).toEqual([[[3]], 0]);
});

it('writes an item again that was added again while it was written', async () => {
  const scene = new Scene();
  scene.during = () => {
    scene.during = () => {};
    scene.pending.add('a', 1);
  };
  scene.pending.add('a', 1);
  await scene.pending.flush();
  expect([scene.written, scene.pending.size]).toEqual([[[1], [1]], 0]);
});
