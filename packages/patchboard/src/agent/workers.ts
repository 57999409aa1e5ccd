import type { Clock } from '../core/ports.ts';

/** The agents of a board that are at work, so that it can be closed: each stops where it can be resumed. */
export class Workers {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #closing: AbortController = new AbortController();
  readonly #working: Set<Promise<unknown>> = new Set();

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Fires when the board closes. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const working = work();
    this.#working.add(working);
    try {
      return await working;
    } finally {
      this.#working.delete(working);
    }
  }

  /** Resolves when nobody is at work any more, or has had time enough to stop. */
  async close(): Promise<void> {
    this.#closing.abort();
    let callOff = (): void => {};
    const enough = new Promise<void>((resolve) => {
      callOff = this.#clock.after(this.#graceMs, resolve);
    });
    await Promise.race([Promise.allSettled(this.#working), enough]);
    callOff();
  }
}
