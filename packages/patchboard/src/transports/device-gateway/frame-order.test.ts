import { expect, it } from 'vitest';
import { settled } from '../../../test/support/fake-clock.ts';
import { FrameOrder } from './frame-order.ts';

it('runs the first work at once, and each other one after the one before', async () => {
  const order = new FrameOrder();
  let endFirst = (): void => {};
  const first = new Promise<void>((resolve) => (endFirst = resolve));
  const begun: number[] = [];
  const work = (number: number, until: Promise<void>) => async (): Promise<void> => {
    begun.push(number);
    await until;
  };
  const one = order.next(work(1, first));
  const two = order.next(work(2, Promise.resolve()));
  expect(begun).toEqual([1]);
  await settled();
  expect(begun).toEqual([1]);
  endFirst();
  await Promise.all([one, two]);
  expect(begun).toEqual([1, 2]);
});

it('goes on after work that failed, which rejects for its own caller only', async () => {
  const order = new FrameOrder();
  const failing = order.next(() => Promise.reject(new Error('no room')));
  const following = order.next(() => Promise.resolve());
  await expect(failing).rejects.toThrow('no room');
  await expect(following).resolves.toBeUndefined();
});

it('tells when all work that was added has ended, and then runs the next one at once', async () => {
  const order = new FrameOrder();
  expect(order.running).toBeNull();
  const ended: number[] = [];
  const only = order.next(async () => {
    await settled();
    ended.push(1);
  });
  await order.running;
  expect(ended).toEqual([1]);
  await only;
  expect(order.running).toBeNull();
  let isBegun = false;
  const next = order.next(() => {
    isBegun = true;
    return Promise.resolve();
  });
  expect(isBegun).toBe(true);
  await next;
});
