/** Upper bounds in seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** A histogram of plain numbers: every call ends here, and hashing labels for each costs more than counting it. */
export class DurationCounts {
  readonly #counts: number[] = BOUNDS.map(() => 0);
  #count = 0;
  #sum = 0;

  add(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    const bound = BOUNDS.findIndex((limit) => seconds <= limit);
    if (bound !== -1) this.#counts[bound] = (this.#counts[bound] ?? 0) + 1;
  }

  /** In the text format of Prometheus, where each bucket holds those below it too. */
  text(name: string, labels: string): string {
    let below = 0;
    const buckets = BOUNDS.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return `${name}_bucket{le="${bound}",${labels}} ${below}\n`;
    });
    return (
      `${buckets.join('')}${name}_bucket{le="+Inf",${labels}} ${this.#count}\n` +
      `${name}_sum{${labels}} ${this.#sum}\n${name}_count{${labels}} ${this.#count}\n`
    );
  }
}
