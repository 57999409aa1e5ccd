import { expect, it } from 'vitest';
import { nodeClock } from '../runtime/node-clock.ts';
import { YieldingQueue } from './yielding-queue.ts';

it('runs one task in a turn, in the order they came, and goes on after one that failed', async () => {
  const queue = new YieldingQueue(nodeClock);
  let turn = 0;
  const count = (): void => {
    turn += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const ran: [number, number][] = [];
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      queue.run(async () => {
        ran.push([index, turn]);
        await Promise.resolve();
        if (index === 3) throw new Error('broken');
      }),
    ),
  );
  clearImmediate(counting);
  expect(ran.map(([index]) => index)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(new Set(ran.map(([, at]) => at)).size).toBe(20);
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
});
