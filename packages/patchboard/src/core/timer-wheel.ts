import type { Clock } from './ports.ts';

const TICK_MS = 50;

interface Timer {
  readonly tick: number;
  readonly action: () => void;
  /** Index in its bucket. */
  index: number;
}

/** Two minutes: an empty bucket that is nearer stays until its tick, because the next call needs it again. */
const NEAR_TICKS = 120_000 / TICK_MS;

/** Index of a timer that has fired or was cancelled. */
const REMOVED = -1;
/** Index of a timer that fires in this turn, unless an action before it cancels it. */
const DUE = -2;

/**
 * Timer wheel: many deadlines on one timer, with arming and disarming in constant time. An action runs at most one tick
 * late. Time is monotonic, so a jump of the wall clock has no effect.
 */
export class TimerWheel {
  readonly #clock: Clock;
  readonly #buckets: Map<number, Timer[]> = new Map();
  /** The timers of this turn. */
  #due: readonly Timer[] = [];
  #armed = 0;
  #cancelTick: (() => void) | null = null;
  #lastTick: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastTick = this.#currentTick();
  }

  /** Number of ticks for which there are buckets, those that are empty included. */
  get ticks(): number {
    return this.#buckets.size;
  }

  after(ms: number, action: () => void): () => void {
    // With armed timers the last tick must stay, also during a turn, or their ticks would be skipped.
    if (this.#buckets.size === 0) this.#lastTick = this.#currentTick();
    const due = Math.ceil((this.#clock.elapsed() + Math.max(0, ms)) / TICK_MS);
    const tick = Math.max(due, this.#lastTick + 1);
    const bucket = this.#bucket(tick);
    const timer: Timer = { tick, action, index: bucket.length };
    bucket.push(timer);
    this.#armed += 1;
    this.#cancelTick ??= this.#clock.after(TICK_MS, this.#turn);
    return () => this.#disarm(timer);
  }

  /** Cancels all timers. */
  clear(): void {
    this.#removeAll();
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #bucket(tick: number): Timer[] {
    const existing = this.#buckets.get(tick);
    if (existing !== undefined) return existing;
    const bucket: Timer[] = [];
    this.#buckets.set(tick, bucket);
    return bucket;
  }

  #disarm(timer: Timer): void {
    if (timer.index === DUE) timer.index = REMOVED;
    const bucket = timer.index === REMOVED ? undefined : this.#buckets.get(timer.tick);
    const last = bucket?.pop();
    if (bucket === undefined || last === undefined) return;
    if (last !== timer) {
      bucket[timer.index] = last;
      last.index = timer.index;
    }
    timer.index = REMOVED;
    this.#armed -= 1;
    if (bucket.length === 0 && timer.tick > this.#lastTick + NEAR_TICKS) this.#buckets.delete(timer.tick);
  }

  #removeAll(): void {
    for (const bucket of this.#buckets.values()) for (const timer of bucket) timer.index = REMOVED;
    for (const timer of this.#due) timer.index = REMOVED;
    this.#buckets.clear();
    this.#armed = 0;
  }

  #currentTick(): number {
    return Math.floor(this.#clock.elapsed() / TICK_MS);
  }

  readonly #turn = (): void => {
    this.#cancelTick = null;
    const now = this.#currentTick();
    this.#due = this.#takeDue(now);
    this.#lastTick = now;
    for (const timer of this.#due) {
      if (timer.index !== DUE) continue;
      timer.index = REMOVED;
      timer.action();
    }
    this.#due = [];
    if (this.#armed > 0) this.#cancelTick ??= this.#clock.after(TICK_MS, this.#turn);
    else this.#removeAll();
  };

  /** Returns the due timers in order of their ticks. After the machine was suspended there may be more ticks than buckets. */
  #takeDue(now: number): Timer[] {
    const ticks: number[] = [];
    if (now - this.#lastTick < this.#buckets.size) {
      for (let tick = this.#lastTick + 1; tick <= now; tick += 1)
        if (this.#buckets.has(tick)) ticks.push(tick);
    } else {
      for (const tick of this.#buckets.keys()) if (tick <= now) ticks.push(tick);
      ticks.sort((a, b) => a - b);
    }
    // Not `push(...bucket)`: after a start the deadlines of all overdue calls share a tick, and too many arguments throw.
    const due = ticks.flatMap((tick) => this.#buckets.get(tick) ?? []);
    for (const tick of ticks) this.#buckets.delete(tick);
    for (const timer of due) timer.index = DUE;
    this.#armed -= due.length;
    return due;
  }
}
