const NEWEST = 200;

/** The durations of the newest calls, in a ring buffer. */
export class LatencyWindow {
  readonly #size: number;
  readonly #durations: number[] = [];
  #next = 0;

  constructor(size: number = NEWEST) {
    this.#size = size;
  }

  add(ms: number): void {
    this.#durations[this.#next] = ms;
    this.#next = (this.#next + 1) % this.#size;
  }

  /** Returns null if there were no calls. Percentiles are nearest-rank: each is one of the durations. */
  summary(): { readonly median: number; readonly p95: number } | null {
    if (this.#durations.length === 0) return null;
    const sorted = this.#durations.toSorted((a, b) => a - b);
    const percentile = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
    return { median: percentile(0.5), p95: percentile(0.95) };
  }
}
