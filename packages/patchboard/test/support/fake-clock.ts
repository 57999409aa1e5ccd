import type { Clock } from '../../src/core/ports.ts';

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly action: () => void;
}

/** A clock that the test advances. */
export class FakeClock implements Clock {
  #wall: number;
  #elapsed = 0;
  #order = 0;
  #timers: Timer[] = [];

  constructor(wall = 1_700_000_000_000) {
    this.#wall = wall;
  }

  /** The number of timers that have neither fired nor been cancelled. */
  get armed(): number {
    return this.#timers.length;
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

  /** Waits turns of the real event loop, without advancing time. */
  turn(): Promise<void> {
    return new Promise((resolve) => void setImmediate(resolve));
  }

  /** Sets the wall clock; monotonic time is unchanged. */
  jumpWall(ms: number): void {
    this.#wall += ms;
  }

  /** Advances time without running timers, as during a long computation. */
  pass(ms: number): void {
    this.#elapsed += ms;
    this.#wall += ms;
  }

  /** Advances time and runs due timers in order, letting promises settle in between. */
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

/** Waits until pending promises and immediates have run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
