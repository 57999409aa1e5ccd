import type { Call } from '../../core/call/call.ts';

/** Room that is given up at once, so that a call costs no copy of the queue. */
const SPENT = 1024;

/** The calls that have ended, in that order: a queue of at most `retain`. */
export class EndedCalls {
  readonly #retain: number;
  #queue: Call[] = [];
  /** The place of the first; those before it are gone. */
  #first = 0;

  constructor(retain: number) {
    this.#retain = retain;
  }

  /** Takes one more, and returns the one that ended first if that is one too many. */
  add(call: Call): Call | undefined {
    if (this.#retain === Infinity) return undefined;
    this.#queue.push(call);
    if (this.#queue.length - this.#first <= this.#retain) return undefined;
    const oldest = this.#queue[this.#first];
    this.#first += 1;
    if (this.#first >= SPENT && this.#first * 2 >= this.#queue.length) this.keep(() => true);
    return oldest;
  }

  /** Drops those that are not stored any more. */
  keep(isStored: (call: Call) => boolean): void {
    this.#queue = this.#queue.slice(this.#first).filter(isStored);
    this.#first = 0;
  }
}
