import { followAll, type Bounds } from './abort.ts';

/**
 * Wraps a generator that waits on the network so that `return()` also ends a pending `next()`. A plain generator
 * would leave it pending until the next event.
 */
export function stoppable<T>(
  signal: AbortSignal | undefined,
  start: (bounds: Bounds) => AsyncGenerator<T, void, undefined>,
): AsyncIterableIterator<T> {
  const stop = new AbortController();
  const source = run();

  async function* run(): AsyncGenerator<T, void, undefined> {
    const both = followAll([signal, stop.signal]);
    try {
      yield* start({ signal: both.signal, deadline: Infinity });
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    } finally {
      both.dispose();
    }
  }

  return {
    next: () => source.next(),
    async return() {
      stop.abort();
      await source.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
