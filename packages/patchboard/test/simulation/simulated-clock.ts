import type { Clock } from '../../src/core/ports.ts';
import type { Kernel } from './kernel.ts';

/** The wall-clock time at which every simulation begins. */
export const EPOCH = 1_700_000_000_000;

/** The time of the simulation itself, for what belongs to no process. */
export function kernelClock(kernel: Kernel): Clock {
  return {
    now: () => Math.floor(EPOCH + kernel.now),
    elapsed: () => kernel.now,
    after: (ms, action) => kernel.after(ms, action),
    turn: () => kernel.sleep(0),
  };
}

/**
 * The clock of one simulated process. Its wall clock is wrong by `skewMs`, which jumps; its timers run on monotonic time and
 * reach the process through `enter`.
 */
export class SimulatedClock implements Clock {
  readonly #kernel: Kernel;
  readonly #enter: (action: () => void) => void;
  readonly #startedAt: number;
  readonly #timers: Set<() => void> = new Set();
  #skewMs: number;

  constructor(kernel: Kernel, skewMs: number, enter: (action: () => void) => void) {
    this.#kernel = kernel;
    this.#skewMs = skewMs;
    this.#enter = enter;
    this.#startedAt = kernel.now;
  }

  /** The number of timers that have neither fired nor been cancelled. */
  get armed(): number {
    return this.#timers.size;
  }

  now(): number {
    return Math.floor(EPOCH + this.#kernel.now + this.#skewMs);
  }

  elapsed(): number {
    return this.#kernel.now - this.#startedAt;
  }

  after(ms: number, action: () => void): () => void {
    let isArmed = true;
    const disarm = (): void => {
      isArmed = false;
      this.#timers.delete(disarm);
      cancel();
    };
    const fire = (): void => {
      if (!isArmed) return;
      disarm();
      action();
    };
    // Cancelling also takes back a timer that has fired while the process was paused.
    const cancel = this.#kernel.after(Math.max(1, ms), () => this.#enter(fire));
    this.#timers.add(disarm);
    return disarm;
  }

  turn(): Promise<void> {
    return new Promise((resolve) => void this.#kernel.after(0, () => this.#enter(resolve)));
  }

  /** Sets the wall clock forward or back; monotonic time is unchanged. */
  jump(ms: number): void {
    this.#skewMs += ms;
  }

  /** The process is gone. */
  stop(): void {
    for (const disarm of this.#timers) disarm();
  }
}
