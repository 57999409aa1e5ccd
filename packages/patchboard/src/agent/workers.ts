/** The agents of a board that are at work, so that it can be closed: each stops where it can be resumed. */
export class Workers {
  readonly #closing: AbortController = new AbortController();
  readonly #working: Set<Promise<unknown>> = new Set();

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

  /** Resolves when nobody is at work any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#working);
  }
}
