import type { Randomness } from '../../src/runtime/ids.ts';

/**
 * All randomness of a simulation. Each purpose draws from a stream of its own, so that one decision more or less for one
 * purpose changes no decision for another: a plan with fewer steps keeps the rest of its history as far as possible.
 */
export class Random {
  readonly seed: number;
  readonly #streams: Map<string, Stream> = new Map();

  constructor(seed: number) {
    this.seed = seed;
  }

  /** Returns the stream of a purpose; the same names return the same stream, which continues. */
  of(...purpose: readonly (string | number)[]): Stream {
    const name = purpose.join('/');
    const existing = this.#streams.get(name);
    if (existing !== undefined) return existing;
    const stream = new Stream(hashOf(`${this.seed}/${name}`));
    this.#streams.set(name, stream);
    return stream;
  }
}

/** A sequence of pseudo-random numbers (mulberry32). */
export class Stream implements Randomness {
  #state: number;

  constructor(state: number) {
    this.#state = state;
  }

  /** Returns a number of at least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** Returns a duration from `min` to `max` milliseconds; short ones are more frequent. */
  delay(min: number, max: number): number {
    const share = this.next();
    return Math.round((min + (max - min) * share ** 3) * 1000) / 1000;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(this.next() * values.length)];
    if (value === undefined) throw new Error('pick() needs at least one value');
    return value;
  }

  /** Picks a value by its weight. */
  weighted<Value>(values: readonly (readonly [weight: number, value: Value])[]): Value {
    let rest = this.next() * values.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of values) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return this.pick(values)[1];
  }

  fill(buffer: Uint8Array | Uint16Array): void {
    for (let index = 0; index < buffer.length; index += 1) buffer[index] = Math.floor(this.next() * 65_536);
  }
}

/** FNV-1a with a final mix, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
