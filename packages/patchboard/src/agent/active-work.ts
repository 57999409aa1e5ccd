import type { Clock } from '../core/ports.ts';
import { withTimeLimit } from '../core/time-limit.ts';

/**
 * The agents of a board that are at work, and those who read what they wrote, so that it can be closed: each agent stops
 * where it can be resumed, then whoever reads has the last of it and ends.
 */
export class ActiveWork {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #closing: AbortController = new AbortController();
  readonly #closed: AbortController = new AbortController();
  readonly #working: Set<Promise<unknown>> = new Set();
  readonly #reading: Set<Promise<unknown>> = new Set();

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Fires when the board closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Fires when nobody works any more: nothing new is read after that. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    return await during(this.#working, work());
  }

  /** The store stays open until it has ended. */
  async read<T>(read: () => Promise<T>): Promise<T> {
    return await during(this.#reading, read());
  }

  /** Resolves when nobody is at work any more, or has had time enough to stop. */
  async close(): Promise<void> {
    this.#closing.abort();
    await withTimeLimit(this.#clock, this.#graceMs, this.#drain(), () => {});
    this.#closed.abort();
  }

  async #drain(): Promise<void> {
    await Promise.allSettled(this.#working);
    this.#closed.abort();
    await Promise.allSettled(this.#reading);
  }
}

async function during<T>(busy: Set<Promise<unknown>>, work: Promise<T>): Promise<T> {
  busy.add(work);
  try {
    return await work;
  } finally {
    busy.delete(work);
  }
}
