import type { Clock } from '../../core/ports.ts';

/** How long a burst may last at most: a second's worth. */
const BURST_SECONDS = 1;

/** One device's share: who sends faster is read more slowly. */
export class FrameRate {
  readonly #clock: Clock;
  readonly #perSecond: number;
  #tokens: number;
  #at: number;
  isResting = false;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#tokens = perSecond * BURST_SECONDS;
    this.#at = clock.elapsed();
  }

  /** Milliseconds to rest before the next is read; 0: none. What was read already still counts. */
  take(): number {
    const now = this.#clock.elapsed();
    const earned = ((now - this.#at) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#perSecond * BURST_SECONDS, this.#tokens + earned) - 1;
    this.#at = now;
    if (this.#tokens >= 0 || this.isResting) return 0;
    this.isResting = true;
    return Math.ceil((-this.#tokens / this.#perSecond) * 1000);
  }
}
