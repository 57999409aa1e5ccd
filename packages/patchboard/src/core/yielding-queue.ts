import type { Clock } from './ports.ts';

/**
 * Runs tasks one at a time, in order of arrival, with a turn of the event loop after each, so that other work waits for at
 * most one of them.
 */
export class YieldingQueue {
  readonly #clock: Pick<Clock, 'turn'>;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Pick<Clock, 'turn'>) {
    this.#clock = clock;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    const previous = this.#last;
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    this.#last = finished.then(() => this.#clock.turn());
    await previous;
    try {
      return await task();
    } finally {
      finish();
    }
  }
}
