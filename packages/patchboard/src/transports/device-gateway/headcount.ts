/** How many are in, by name. */
export class Headcount {
  readonly #counts: Map<string, number> = new Map();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** The answer leaves. */
  enter(name: string): () => void {
    this.#counts.set(name, this.of(name) + 1);
    return () => {
      const left = this.of(name) - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    };
  }
}
