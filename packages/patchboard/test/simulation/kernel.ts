import type { Random, Stream } from './random.ts';

interface Event {
  readonly at: number;
  readonly tie: number;
  readonly order: number;
  action: (() => void) | null;
}

// Taken here, because a test replaces the real timers while a seed runs.
const realTurn = setImmediate;

/**
 * Simulated time and its events. `run` takes the earliest event, runs it, and waits until all promises have settled before it
 * takes the next one, so that the whole simulation is one sequence. Events of the same time run in an order drawn from the
 * seed.
 */
export class Kernel {
  readonly #heap: Event[] = [];
  readonly #ties: Stream;
  readonly #failed: (error: unknown) => void;
  #now = 0;
  #order = 0;
  #real = 0;
  #events = 0;

  /** `failed` is called with what an event throws. */
  constructor(random: Random, failed: (error: unknown) => void) {
    this.#ties = random.of('kernel', 'ties');
    this.#failed = failed;
  }

  /** Simulated milliseconds since the start. */
  get now(): number {
    return this.#now;
  }

  /** The number of events that have run. */
  get events(): number {
    return this.#events;
  }

  /** Runs `action` in `ms` simulated milliseconds; the returned function cancels it. */
  after(ms: number, action: () => void): () => void {
    const at = this.#now + (ms > 0 ? ms : 0);
    const event: Event = { at, tie: this.#ties.next(), order: (this.#order += 1), action };
    push(this.#heap, event);
    return () => {
      event.action = null;
    };
  }

  /** Resolves in `ms` simulated milliseconds. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Work of a real store, which may take turns of the real event loop: no event runs before it has settled. */
  async real<Value>(work: Promise<Value>): Promise<Value> {
    this.#real += 1;
    try {
      return await work;
    } finally {
      this.#real -= 1;
    }
  }

  /** Runs all events up to the simulated time `until`. */
  async run(until: number): Promise<void> {
    await this.#settled();
    for (;;) {
      const event = this.#heap[0];
      if (event === undefined || event.at > until) break;
      pop(this.#heap);
      const { action } = event;
      if (action === null) continue;
      this.#now = event.at;
      this.#events += 1;
      try {
        action();
      } catch (error) {
        this.#failed(error);
      }
      await this.#settled();
    }
    this.#now = Math.max(this.#now, until);
  }

  async #settled(): Promise<void> {
    do await new Promise<void>((resolve) => void realTurn(resolve));
    while (this.#real > 0);
  }
}

function isBefore(a: Event, b: Event): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie;
}

function push(heap: Event[], event: Event): void {
  let index = heap.length;
  heap.push(event);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(event, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Event[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    let below = heap[child];
    if (below === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, below)) {
      child += 1;
      below = right;
    }
    if (!isBefore(below, last)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}
