import type { Clock } from '../core/ports.ts';
import { withTimeLimit } from '../core/time-limit.ts';

/**
 * Tracks running agents and readers of their events, so that the board can shut down in order: first each agent stops at
 * a point from which it can be resumed, then each reader receives the last events and ends.
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

  /** Aborted when the board starts to close. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Aborted when all agents have stopped; no new events follow. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    return await during(this.#working, work());
  }

  /** Runs a read. The store stays open until it has ended. */
  async read<T>(read: () => Promise<T>): Promise<T> {
    return await during(this.#reading, read());
  }

  /** Resolves when all agents and readers have ended, or after the grace period. */
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
