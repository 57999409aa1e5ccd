/** Remembers what was set or used last: when all together weigh too much, what was left alone longest is forgotten. */
export class BoundedMap<Key, Value> {
  readonly #most: number;
  readonly #weigh: (key: Key, value: Value) => number;
  /** Keeps the order of insertion, so the first is the one left alone longest. */
  readonly #entries: Map<Key, Value> = new Map();
  #weight = 0;

  /** `weigh`: the same for an entry whenever it is asked. Default: each weighs 1, and `most` is how many there may be. */
  constructor(most: number, weigh: (key: Key, value: Value) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** The same, and it is the last to be forgotten. */
  use(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** What alone is too heavy is not kept, and nothing is forgotten for it. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weigh(key, value);
    if (weight > this.#most) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#most) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#weigh(key, value);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }
}
