import type { Call } from '../../core/call/call.ts';

/** Removed entries that are compacted at once, so that not every call copies the queue. */
const COMPACT_AT = 1024;

/** A queue of at most `retain` ended calls, in the order in which they ended. */
export class EndedCalls {
  readonly #retain: number;
  #queue: Call[] = [];
  /** The index of the first entry; earlier ones have been removed. */
  #first = 0;

  constructor(retain: number) {
    this.#retain = retain;
  }

  /** Adds a call. Returns the oldest one if there are too many. */
  add(call: Call): Call | undefined {
    if (this.#retain === Infinity) return undefined;
    this.#queue.push(call);
    if (this.#queue.length - this.#first <= this.#retain) return undefined;
    const oldest = this.#queue[this.#first];
    this.#first += 1;
    if (this.#first >= COMPACT_AT && this.#first * 2 >= this.#queue.length) this.keep(() => true);
    return oldest;
  }

  /** Removes calls that are no longer stored. */
  keep(isStored: (call: Call) => boolean): void {
    this.#queue = this.#queue.slice(this.#first).filter(isStored);
    this.#first = 0;
  }
}
