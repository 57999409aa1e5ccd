import { describe, expect, it } from 'vitest';
import { runBulk, type BulkStep } from './bulk-run.ts';

interface Running {
  readonly steps: BulkStep[];
  readonly begun: string[];
  /** Ends one item. */
  readonly end: (item: string, error?: Error) => Promise<void>;
  readonly ended: Promise<void>;
  readonly stop: AbortController;
}

function start(items: readonly string[], concurrency: number): Running {
  const stop = new AbortController();
  const steps: BulkStep[] = items.map(() => ({ state: 'waiting', detail: '' }));
  const begun: string[] = [];
  const pending = new Map<string, { promise: Promise<string>; end: (error?: Error) => void }>();
  const ended = runBulk(items, {
    act: (item) => {
      begun.push(item);
      let end = (_error?: Error): void => undefined;
      const promise = new Promise<string>((resolve, reject) => {
        end = (error) => (error === undefined ? resolve(`new ${item}`) : reject(error));
      });
      pending.set(item, { promise, end });
      return promise;
    },
    concurrency,
    signal: stop.signal,
    onStep: (index, step) => (steps[index] = step),
    messageOf: (error) => (error as Error).message,
  });
  return {
    steps,
    begun,
    ended,
    stop,
    async end(item, error) {
      const own = pending.get(item);
      own?.end(error);
      await Promise.allSettled([own?.promise]);
      await Promise.resolve();
    },
  };
}

describe('a bulk action', () => {
  it('begins as many as allowed, the next when one ends, and reports each result', async () => {
    const run = start(['a', 'b', 'c'], 2);
    expect(run.begun).toEqual(['a', 'b']);
    await run.end('b', new Error('refused'));
    expect(run.begun).toEqual(['a', 'b', 'c']);
    await run.end('a');
    await run.end('c');
    await run.ended;
    expect(run.steps).toEqual([
      { state: 'done', detail: 'new a' },
      { state: 'failed', detail: 'refused' },
      { state: 'done', detail: 'new c' },
    ]);
  });

  it('begins nothing after it was stopped, and finishes what has begun', async () => {
    const run = start(['a', 'b', 'c'], 1);
    run.stop.abort();
    expect(run.steps.map(({ state }) => state)).toEqual(['running', 'waiting', 'waiting']);
    await run.end('a');
    await run.ended;
    expect(run.begun).toEqual(['a']);
    expect(run.steps.map(({ state }) => state)).toEqual(['done', 'stopped', 'stopped']);
  });
});
