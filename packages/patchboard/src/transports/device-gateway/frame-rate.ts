import { refill, type Bucket, type Rate } from '../../core/access/token-buckets.ts';
import type { Clock } from '../../core/ports.ts';

/** How long a burst may last at most: a second's worth. */
const BURST_SECONDS = 1;

/** One device's share: who sends faster is read more slowly, and not refused as by `TokenBuckets`; so it can be in debt. */
export class FrameRate {
  readonly #clock: Clock;
  readonly #rate: Rate;
  readonly #bucket: Bucket;
  isResting = false;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#rate = { burst: perSecond * BURST_SECONDS, perSecond };
    this.#bucket = { tokens: this.#rate.burst, at: clock.elapsed() };
  }

  /** Milliseconds to rest before the next is read; 0: none. What was read already still counts. */
  take(): number {
    const bucket = this.#bucket;
    refill(bucket, this.#rate, this.#clock.elapsed());
    bucket.tokens -= 1;
    if (bucket.tokens >= 0 || this.isResting) return 0;
    this.isResting = true;
    return Math.ceil((-bucket.tokens / this.#rate.perSecond) * 1000);
  }
}
