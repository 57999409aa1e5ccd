import type { Clock } from '../../src/core/ports.ts';

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly action: () => void;
}

/** Time that moves only when told to. */
export class FakeClock implements Clock {
  #wall: number;
  #elapsed = 0;
  #order = 0;
  #timers: Timer[] = [];

  constructor(wall = 1_700_000_000_000) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { due: this.#elapsed + ms, order: this.#order++, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Of the real event loop: time does not move by it. */
  turn(): Promise<void> {
    return new Promise((resolve) => void setImmediate(resolve));
  }

  /** The wall clock is set by somebody; monotonic time does not notice. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  /** Time goes by while something runs; nothing falls due meanwhile. */
  pass(ms: number): void {
    this.#elapsed += ms;
    this.#wall += ms;
  }

  /** Runs what falls due, in order, letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    for (;;) {
      const [next] = this.#timers
        .filter((timer) => timer.due <= end)
        .sort((a, b) => a.due - b.due || a.order - b.order);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      const step = Math.max(0, next.due - this.#elapsed);
      this.#elapsed += step;
      this.#wall += step;
      next.action();
      await settled();
    }
    this.#wall += end - this.#elapsed;
    this.#elapsed = end;
    await settled();
  }
}

/** Lets everything that only waits for promises and immediates go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
