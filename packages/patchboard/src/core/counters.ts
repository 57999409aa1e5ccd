/** Before so many names are known, nobody looks for those that can be forgotten. */
const FIRST_SWEEP = 1024;

/** How many there are under each name. A name at nought is forgotten later, with many others: most come back soon. */
export class Counters {
  readonly #counts: Map<string, number> = new Map();
  #sweepAt = FIRST_SWEEP;

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** One more; the answer takes it back, once. */
  enter(name: string): () => void {
    this.add(name, 1);
    let isIn = true;
    return () => {
      if (isIn) this.add(name, -1);
      isIn = false;
    };
  }

  add(name: string, change: number): void {
    this.#counts.set(name, this.of(name) + change);
    if (this.#counts.size > this.#sweepAt) this.#sweep();
  }

  #sweep(): void {
    for (const [name, count] of this.#counts) if (count === 0) this.#counts.delete(name);
    // Twice as many as are in use: sweeping stays rare however many those are.
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#counts.size * 2);
  }
}
