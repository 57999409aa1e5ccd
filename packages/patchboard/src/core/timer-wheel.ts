import type { Clock } from './ports.ts';

const TICK_MS = 50;

interface Timer {
  readonly tick: number;
  readonly action: () => void;
}

/**
 * Many deadlines, one timer. Arming and disarming are a set insert and delete;
 * an action runs at most one tick late. Time is monotonic, so a jump of the wall clock moves nothing.
 */
export class TimerWheel {
  readonly #clock: Clock;
  readonly #buckets: Map<number, Set<Timer>> = new Map();
  #cancelTick: (() => void) | null = null;
  #lastTick: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastTick = this.#currentTick();
  }

  after(ms: number, action: () => void): () => void {
    if (this.#buckets.size === 0) this.#lastTick = this.#currentTick();
    const due = Math.ceil((this.#clock.elapsed() + Math.max(0, ms)) / TICK_MS);
    const timer: Timer = { tick: Math.max(due, this.#lastTick + 1), action };
    const bucket = this.#buckets.get(timer.tick);
    if (bucket === undefined) this.#buckets.set(timer.tick, new Set([timer]));
    else bucket.add(timer);
    this.#cancelTick ??= this.#clock.after(TICK_MS, this.#turn);
    return () => {
      const home = this.#buckets.get(timer.tick);
      if (home?.delete(timer) === true && home.size === 0) this.#buckets.delete(timer.tick);
    };
  }

  /** Drops every deadline. */
  clear(): void {
    this.#buckets.clear();
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #currentTick(): number {
    return Math.floor(this.#clock.elapsed() / TICK_MS);
  }

  readonly #turn = (): void => {
    this.#cancelTick = null;
    const now = this.#currentTick();
    const due = this.#takeDue(now);
    this.#lastTick = now;
    for (const timer of due) timer.action();
    if (this.#buckets.size > 0) this.#cancelTick ??= this.#clock.after(TICK_MS, this.#turn);
  };

  /** In order of their ticks. After a long sleep of the machine there may be more ticks than buckets. */
  #takeDue(now: number): Timer[] {
    const ticks: number[] = [];
    if (now - this.#lastTick < this.#buckets.size) {
      for (let tick = this.#lastTick + 1; tick <= now; tick += 1)
        if (this.#buckets.has(tick)) ticks.push(tick);
    } else {
      for (const tick of this.#buckets.keys()) if (tick <= now) ticks.push(tick);
      ticks.sort((a, b) => a - b);
    }
    const due: Timer[] = [];
    for (const tick of ticks) {
      due.push(...(this.#buckets.get(tick) ?? []));
      this.#buckets.delete(tick);
    }
    return due;
  }
}
