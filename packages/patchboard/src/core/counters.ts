/** Number of names from which on those with a count of 0 are removed. */
const FIRST_SWEEP = 1024;

/** A counter per name. Names with a count of 0 are removed rarely and many at once, because most are used again soon. */
export class Counters {
  readonly #counts: Map<string, number> = new Map();
  #sweepAt = FIRST_SWEEP;

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Increments; the returned function decrements, once. */
  enter(name: string): () => void {
    this.add(name, 1);
    let isCounted = true;
    return () => {
      if (isCounted) this.add(name, -1);
      isCounted = false;
    };
  }

  add(name: string, change: number): void {
    this.#counts.set(name, this.of(name) + change);
    if (this.#counts.size > this.#sweepAt) this.#sweep();
  }

  #sweep(): void {
    for (const [name, count] of this.#counts) if (count === 0) this.#counts.delete(name);
    // Twice as many as are in use, so that the cost of sweeping stays constant per new name.
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#counts.size * 2);
  }
}
