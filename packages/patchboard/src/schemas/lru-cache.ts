/** Keeps the most recently used entries whose sizes sum to at most `maxSize`. */
export class LruCache<Value> {
  readonly #maxSize: number;
  readonly #entries = new Map<string, Value>();
  #size = 0;

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    // The map keeps the order of insertion, so the first key is the one not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** The size of an entry is the length of its key. */
  set(key: string, value: Value): void {
    if (key.length > this.#maxSize || this.#entries.has(key)) return;
    this.#entries.set(key, value);
    this.#size += key.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) return;
      this.#entries.delete(oldest);
      this.#size -= oldest.length;
    }
  }
}
