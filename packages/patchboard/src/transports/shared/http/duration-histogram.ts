/** Upper bounds in seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300];

/** The buckets for one value of the label. */
class Buckets {
  readonly #counts: number[] = BOUNDS.map(() => 0);
  #count = 0;
  #sum = 0;

  add(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    const bound = BOUNDS.findIndex((limit) => seconds <= limit);
    if (bound !== -1) this.#counts[bound] = (this.#counts[bound] ?? 0) + 1;
  }

  /** Buckets are cumulative. */
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

/**
 * A histogram of durations with one label. Unlike prom-client's it hashes no labels: it is updated once per call, and
 * hashing would cost more than counting.
 */
export class DurationHistogram<Kind extends string> {
  readonly #name: string;
  readonly #help: string;
  readonly #label: string;
  readonly #kinds: Map<Kind, Buckets> = new Map();

  constructor(name: string, { help, labels: [label] }: { help: string; labels: readonly [string] }) {
    this.#name = name;
    this.#help = help;
    this.#label = label;
  }

  add(kind: Kind, ms: number): void {
    const buckets = this.#kinds.get(kind) ?? new Buckets();
    this.#kinds.set(kind, buckets);
    buckets.add(ms / 1000);
  }

  /** Returns the Prometheus text format. */
  text(): string {
    const [name, label] = [this.#name, this.#label];
    const rows = [...this.#kinds].map(([kind, buckets]) => buckets.text(name, `${label}="${kind}"`));
    return `# HELP ${name} ${this.#help}\n# TYPE ${name} histogram\n${rows.join('')}`;
  }
}
