import type { Clock } from './ports.ts';

const TICK_MS = 50;

interface Timer {
  readonly tick: number;
  readonly action: () => void;
  /** In its bucket. */
  place: number;
}

/** The place of a timer that is due or was called off. */
const NOWHERE = -1;

/**
 * Many deadlines, one timer. Arming puts a timer at the end of its bucket, and disarming puts the last one in its
 * place; a bucket that is left empty stays until its tick, because the next call needs it again. An action runs at most one tick late. Time is monotonic, so a jump of the wall clock moves nothing.
 */
export class TimerWheel {
  readonly #clock: Clock;
  readonly #buckets: Map<number, Timer[]> = new Map();
  #armed = 0;
  #cancelTick: (() => void) | null = null;
  #lastTick: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lastTick = this.#currentTick();
  }

  after(ms: number, action: () => void): () => void {
    // Ticks that hold something must be taken, also while a turn is under way.
    if (this.#buckets.size === 0) this.#lastTick = this.#currentTick();
    const due = Math.ceil((this.#clock.elapsed() + Math.max(0, ms)) / TICK_MS);
    const tick = Math.max(due, this.#lastTick + 1);
    const bucket = this.#bucket(tick);
    const timer: Timer = { tick, action, place: bucket.length };
    bucket.push(timer);
    this.#armed += 1;
    this.#cancelTick ??= this.#clock.after(TICK_MS, this.#turn);
    return () => this.#disarm(timer);
  }

  /** Drops every deadline. */
  clear(): void {
    this.#rest();
    this.#cancelTick?.();
    this.#cancelTick = null;
  }

  #bucket(tick: number): Timer[] {
    const standing = this.#buckets.get(tick);
    if (standing !== undefined) return standing;
    const bucket: Timer[] = [];
    this.#buckets.set(tick, bucket);
    return bucket;
  }

  #disarm(timer: Timer): void {
    const bucket = timer.place === NOWHERE ? undefined : this.#buckets.get(timer.tick);
    const last = bucket?.pop();
    if (bucket === undefined || last === undefined) return;
    if (last !== timer) {
      bucket[timer.place] = last;
      last.place = timer.place;
    }
    timer.place = NOWHERE;
    this.#armed -= 1;
  }

  /** Nothing is armed any more. */
  #rest(): void {
    for (const bucket of this.#buckets.values()) for (const timer of bucket) timer.place = NOWHERE;
    this.#buckets.clear();
    this.#armed = 0;
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
    if (this.#armed > 0) this.#cancelTick ??= this.#clock.after(TICK_MS, this.#turn);
    else this.#rest();
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
    for (const timer of due) timer.place = NOWHERE;
    this.#armed -= due.length;
    return due;
  }
}
