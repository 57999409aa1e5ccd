import type { Outcome } from './outcome.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/**
 * The one way to end work early: deadline, cancel and shutdown all fire it, and what they give is the outcome.
 * The abort controller is made only if the tool asks for its signal.
 */
export class Stop {
  #reason: Outcome | null = null;
  #controller: AbortController | null = null;
  #interrupt: ((reason: Outcome) => void) | null = null;

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
    this.#interrupt?.(reason);
    this.#interrupt = null;
  }

  /** Settles with the work, or with the reason as soon as it is fired: a tool may ignore the signal. */
  race(work: MaybePromise<Outcome>): MaybePromise<Outcome> {
    if (this.#reason !== null) return this.#reason;
    if (!(work instanceof Promise)) return work;
    return new Promise<Outcome>((resolve, reject) => {
      // One call does one thing at a time: what was raced before has settled.
      this.#interrupt = resolve;
      work.then(resolve, reject);
    });
  }
}
