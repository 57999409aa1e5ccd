import type { Outcome } from './outcome.ts';

/**
 * The one way to end work early: deadline, cancel and shutdown all fire it, and what they give is the outcome.
 * The abort controller is made only if the tool asks for its signal.
 */
export class Stop {
  #reason: Outcome | null = null;
  #controller: AbortController | null = null;
  readonly #listeners: Set<(reason: Outcome) => void> = new Set();

  get reason(): Outcome | null {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first one counts. */
  fire(reason: Outcome): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    for (const listener of this.#listeners) listener(reason);
    this.#listeners.clear();
  }

  /** Settles with the work, or with the reason as soon as it is fired: a tool may ignore the signal. */
  race(work: Promise<Outcome>): Promise<Outcome> {
    if (this.#reason !== null) return Promise.resolve(this.#reason);
    return new Promise<Outcome>((resolve, reject) => {
      this.#listeners.add(resolve);
      work.then(
        (outcome) => {
          this.#listeners.delete(resolve);
          resolve(outcome);
        },
        (error: unknown) => {
          this.#listeners.delete(resolve);
          reject(error);
        },
      );
    });
  }
}
