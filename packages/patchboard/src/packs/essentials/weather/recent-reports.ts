import { BoundedMap } from '../../../core/bounded-map.ts';

interface Kept<Value> {
  readonly value: Value;
  readonly at: number;
}

/** An LRU cache of reports, for use when the service is not reachable. */
export class RecentReports<Value> {
  readonly #kept: BoundedMap<string, Kept<Value>>;
  readonly #maxAgeMs: number;
  readonly #now: () => number;

  constructor(options: { maxEntries: number; maxAgeMs: number; now: () => number }) {
    this.#kept = new BoundedMap(options.maxEntries);
    this.#maxAgeMs = options.maxAgeMs;
    this.#now = options.now;
  }

  keep(key: string, value: Value): void {
    this.#kept.set(key, { value, at: this.#now() });
  }

  find(key: string): { readonly value: Value; readonly ageMs: number } | undefined {
    const kept = this.#kept.use(key);
    if (kept === undefined) return undefined;
    const ageMs = Math.max(0, this.#now() - kept.at); // the wall clock may step back
    if (ageMs > this.#maxAgeMs) {
      this.#kept.delete(key);
      return undefined;
    }
    return { value: kept.value, ageMs };
  }
}
