interface Kept<Value> {
  readonly value: Value;
  readonly at: number;
}

/** The last answers, for when the service does not answer; the least recently used goes first. */
export class RecentReports<Value> {
  readonly #kept = new Map<string, Kept<Value>>();
  readonly #maxEntries: number;
  readonly #maxAgeMs: number;
  readonly #now: () => number;

  constructor(options: { maxEntries: number; maxAgeMs: number; now: () => number }) {
    this.#maxEntries = options.maxEntries;
    this.#maxAgeMs = options.maxAgeMs;
    this.#now = options.now;
  }

  keep(key: string, value: Value): void {
    this.#put(key, { value, at: this.#now() });
    if (this.#kept.size <= this.#maxEntries) return;
    for (const oldest of this.#kept.keys()) {
      this.#kept.delete(oldest);
      break;
    }
  }

  find(key: string): { readonly value: Value; readonly ageMs: number } | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    const ageMs = Math.max(0, this.#now() - kept.at); // the wall clock may step back
    if (ageMs > this.#maxAgeMs) {
      this.#kept.delete(key);
      return undefined;
    }
    this.#put(key, kept);
    return { value: kept.value, ageMs };
  }

  /** A map keeps the order of insertion, so the most recently used is always last. */
  #put(key: string, kept: Kept<Value>): void {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
  }
}
