import type { Outcome } from './outcome.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/**
 * Stops the work of a call early, with an outcome: deadline, cancel and shutdown all fire it. The abort controller is
 * created only if the tool reads the signal.
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

  /** Only the first call has an effect. */
  fire(reason: Outcome): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#interrupt?.(reason);
    this.#interrupt = null;
  }

  /** Settles as `work` does, or with the reason as soon as `fire` is called, because a tool may ignore the signal. */
  race<Settled>(work: MaybePromise<Settled>): MaybePromise<Settled | Outcome> {
    if (this.#reason !== null) return this.#reason;
    if (!(work instanceof Promise)) return work;
    return new Promise<Settled | Outcome>((resolve, reject) => {
      // A call runs one piece of work at a time, so any earlier race has settled.
      this.#interrupt = resolve;
      work.then(resolve, reject);
    });
  }
}
