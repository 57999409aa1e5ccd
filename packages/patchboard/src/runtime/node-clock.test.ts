import { afterEach, expect, it, vi } from 'vitest';
import { nodeClock } from './node-clock.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('starts no timer with a delay that Node would run at once', () => {
  const started = vi.spyOn(globalThis, 'setTimeout');
  for (const ms of [1000, 2 ** 31 - 1, 2 ** 31, Infinity]) nodeClock.after(ms, () => {})();
  expect(started.mock.calls.map(([, delay]) => delay)).toEqual([1000, 2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1]);
});
