import type { Life } from './history.ts';

const SAMPLE_EVERY_MS = 50;

export interface HealthParts {
  readonly nodes: number;
  /** Whether the node says that it is ready. */
  readonly isReady: (node: number) => boolean;
}

/** When each node was ready and undisturbed, as seen from outside. Epoch milliseconds. */
export class ClusterHealth {
  readonly #parts: HealthParts;
  readonly #disturbances: number[];
  readonly #intervals: Life[][];
  readonly #timer: NodeJS.Timeout;

  constructor(parts: HealthParts) {
    this.#parts = parts;
    this.#disturbances = Array.from({ length: parts.nodes }, () => 0);
    this.#intervals = Array.from({ length: parts.nodes }, () => []);
    this.#timer = setInterval(() => this.#sample(), SAMPLE_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#sample();
  }

  isReady(node: number): boolean {
    return this.#parts.isReady(node);
  }

  /** From now until the returned function is called the nodes are not healthy. */
  disturb(nodes: readonly number[]): () => void {
    for (const node of nodes) this.#disturbances[node] = (this.#disturbances[node] ?? 0) + 1;
    this.#sample();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      for (const node of nodes) this.#disturbances[node] = (this.#disturbances[node] ?? 1) - 1;
    };
  }

  wasHealthy(node: number, from: number, until: number): boolean {
    return this.#intervals[node]?.some((one) => one.from <= from && until <= one.until) === true;
  }

  /** Until when the node was healthy without a break from this moment on; the moment itself if it was not. */
  healthyUntil(node: number, at: number): number {
    return this.#intervals[node]?.find(({ from, until }) => from <= at && at <= until)?.until ?? at;
  }

  /** The first moment, not before `from`, after which one node was healthy for `ms` without a break. */
  firstHealthy(from: number, ms: number): number {
    let first = Infinity;
    for (const one of this.#intervals.flat()) {
      const start = Math.max(from, one.from);
      if (one.until - start >= ms) first = Math.min(first, start);
    }
    return first;
  }

  /** When at least one node was healthy. */
  lives(): Life[] {
    const lives: Life[] = [];
    for (const one of this.#intervals.flat().toSorted((a, b) => a.from - b.from)) {
      const last = lives.at(-1);
      if (last !== undefined && one.from <= last.until) last.until = Math.max(last.until, one.until);
      else lives.push({ ...one });
    }
    return lives;
  }

  /** The intervals as text. */
  lines(): string[] {
    return this.#intervals.flatMap((intervals, node) =>
      intervals.map(({ from, until }) => `node ${node} was healthy from ${timeOf(from)} to ${timeOf(until)}`),
    );
  }

  #sample(): void {
    const at = Date.now();
    for (const [node, intervals] of this.#intervals.entries()) {
      const last = intervals.at(-1);
      const isOpen = last?.until === Infinity;
      if (this.#disturbances[node] === 0 && this.isReady(node)) {
        if (!isOpen) intervals.push({ from: at, until: Infinity });
      } else if (isOpen && last !== undefined) last.until = at;
    }
  }
}

function timeOf(at: number): string {
  return at === Infinity ? 'the end' : new Date(at).toISOString();
}
