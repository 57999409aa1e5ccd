import { expect, it } from 'vitest';
import { BoundedTasks } from './bounded-tasks.ts';

it('run at the same time, at most as many as allowed, and begin in order', async () => {
  const tasks = new BoundedTasks(3);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const starting = (async (): Promise<void> => {
    for (const number of [1, 2, 3, 4, 5])
      await tasks.start(() => {
        begun.push(number);
        return new Promise((resolve) => ends.push(resolve));
      });
  })();
  await new Promise(setImmediate);
  expect(begun).toEqual([1, 2, 3]);
  ends[1]?.();
  await new Promise(setImmediate);
  expect(begun).toEqual([1, 2, 3, 4]);
  ends[0]?.();
  await starting;
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  let isIdle = false;
  const idle = tasks.idle().then(() => (isIdle = true));
  for (const end of ends.slice(0, -1)) end();
  await new Promise(setImmediate);
  expect(isIdle).toBe(false);
  ends.at(-1)?.();
  await idle;
});
