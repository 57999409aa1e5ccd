import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../ports.ts';

/** So many at once, and so many a second for ever. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** In which time an empty bucket is full again. */
  readonly windowMs: number;
  readonly remaining: number;
  /** Milliseconds until as much would be allowed; 0 when it is now. */
  readonly retryAfterMs: number;
}

export interface Bucket {
  tokens: number;
  /** When it was last filled up. */
  at: number;
}

/** Enough for every principal and tool in use; beyond it, the one idle longest is forgotten, which only makes it full. */
const MAX_BUCKETS = 50_000;

/** Thirds of a token do not add up to one exactly. */
const ROUNDING = 1e-9;

/** One bucket per name, made when first asked for. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets: BoundedMap<string, Bucket> = new BoundedMap(MAX_BUCKETS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `tokens`: what it costs. More than a bucket holds is paid for by a full one. */
  take(name: string, rate: Rate, tokens = 1): Allowance {
    const now = this.#clock.elapsed();
    const bucket = this.#buckets.get(name) ?? { tokens: rate.burst, at: now };
    refill(bucket, rate, now);
    this.#buckets.set(name, bucket);
    const fixed = { limit: rate.burst, windowMs: (rate.burst / rate.perSecond) * 1000 };
    const cost = costOf(rate, tokens);
    if (bucket.tokens < cost - ROUNDING) {
      const retryAfterMs = Math.ceil(((cost - bucket.tokens) / rate.perSecond) * 1000);
      return { ...fixed, allowed: false, remaining: Math.max(0, Math.floor(bucket.tokens)), retryAfterMs };
    }
    bucket.tokens -= cost;
    const remaining = Math.max(0, Math.floor(bucket.tokens));
    return { ...fixed, allowed: true, remaining, retryAfterMs: 0 };
  }

  /** Returns the current allowance without taking a token. */
  peek(name: string, rate: Rate): Allowance {
    const allowance = this.take(name, rate);
    if (!allowance.allowed) return allowance;
    this.putBack(name, rate);
    return { ...allowance, remaining: allowance.remaining + 1 };
  }

  /** Puts back what another limit made useless. */
  putBack(name: string, rate: Rate, tokens = 1): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.tokens += costOf(rate, tokens);
  }
}

function costOf({ burst }: Rate, tokens: number): number {
  return Math.min(tokens, Math.max(1, burst));
}

/** What was earned since it was last filled up, and never more than a burst. */
export function refill(bucket: Bucket, { burst, perSecond }: Rate, now: number): void {
  bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
}
