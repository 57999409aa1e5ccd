/** LRU cache with a capacity by weight: when it is exceeded, the least recently set or used entries are evicted. */
export class BoundedMap<Key, Value> {
  readonly #capacity: number;
  readonly #weigh: (key: Key, value: Value) => number;
  /** In order of last use, because `Map` keeps the order of insertion: the first is the least recently used. */
  readonly #entries: Map<Key, Value> = new Map();
  #weight = 0;

  /**
   * `weigh` must always return the same weight for an entry. Default: each weighs 1, and `capacity` is the number of
   * entries.
   */
  constructor(capacity: number, weigh: (key: Key, value: Value) => number = () => 1) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** As `get`, and marks the entry as most recently used. */
  use(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** An entry that alone exceeds the capacity is not stored, and evicts nothing. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weigh(key, value);
    if (weight > this.#capacity) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#capacity) return;
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
