import { refill, type Bucket, type Rate } from '../../core/access/token-buckets.ts';
import type { Clock } from '../../core/ports.ts';

/** Capacity of the bucket in seconds of the rate. */
const BURST_SECONDS = 1;

/** Token bucket of one device. Unlike `TokenBuckets` it slows reading instead of refusing, so its balance may be negative. */
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

  /** Takes a token. Returns the milliseconds to pause reading, or 0. Frames that arrive during a pause count too. */
  take(): number {
    const bucket = this.#bucket;
    refill(bucket, this.#rate, this.#clock.elapsed());
    bucket.tokens -= 1;
    if (bucket.tokens >= 0 || this.isResting) return 0;
    this.isResting = true;
    return Math.ceil((-bucket.tokens / this.#rate.perSecond) * 1000);
  }
}
