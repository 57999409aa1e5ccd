import { setTimeout as pause } from 'node:timers/promises';

/** The time in which a node that leaves still serves requests: balancers must see that it is not ready. */
export class DrainDelay {
  readonly #ms: number;
  readonly #ended: AbortController = new AbortController();
  #isWaiting = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  async wait(): Promise<void> {
    if (this.#ms === 0) return;
    const { signal } = this.#ended;
    this.#isWaiting = true;
    try {
      await pause(this.#ms, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#isWaiting = false;
    }
  }

  /** Returns false if nothing waits. */
  end(): boolean {
    if (!this.#isWaiting) return false;
    this.#ended.abort();
    return true;
  }
}
