import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepPurging } from './purging.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A store with this many calls to purge, or one that cannot be written. */
function aScene(calls: number, failure: Error | null = null) {
  let left = calls;
  const purges: number[] = [];
  const logged: unknown[] = [];
  const purgeCalls = async (before: number, limit: number): Promise<number> => {
    await Promise.resolve();
    if (failure !== null) throw failure;
    purges.push(before);
    const removed = Math.min(limit, left);
    left -= removed;
    return removed;
  };
  const log = (event: string, fields = {}): void => void logged.push({ event, ...fields });
  const parts = {
    store: { purgeCalls },
    log: { info: log, warn: log, error: log },
    clock: { now: () => 50_000 },
  };
  return { parts, purges, logged };
}

it('purges in batches until nothing old is left, at once and every hour', async () => {
  const { parts, purges, logged } = aScene(2500);
  const stop = keepPurging(20_000, parts);
  await vi.advanceTimersByTimeAsync(0);
  expect(purges).toEqual([30_000, 30_000, 30_000]);
  expect(logged).toEqual([{ event: 'retention.purged', calls: 2500 }]);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect([purges.length, logged.length]).toEqual([4, 1]);
  stop();
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(purges).toHaveLength(4);
});

it('logs a purge that failed, and tries again an hour later', async () => {
  const { parts, logged } = aScene(1, new Error('disk full'));
  const stop = keepPurging(20_000, parts);
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  stop();
  const failed = { event: 'retention.failed', error: 'disk full' };
  expect(logged).toEqual([failed, failed]);
});

it('purges nothing without a retention', async () => {
  const { parts, purges } = aScene(1);
  keepPurging(null, parts)();
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(purges).toEqual([]);
});
