import { BoundedMap } from '../bounded-map.ts';
import type { Clock } from '../ports.ts';

/** Token bucket: `burst` capacity, refilled at `perSecond`. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** The time in which an empty bucket is full again. */
  readonly windowMs: number;
  readonly remaining: number;
  /** Milliseconds until the same request would be allowed; 0 if it is allowed now. */
  readonly retryAfterMs: number;
}

export interface Bucket {
  tokens: number;
  /** Time of the last refill. */
  at: number;
}

/** Enough for every principal and tool in use. Beyond it, the bucket idle longest is evicted, which only makes it full. */
const MAX_BUCKETS = 50_000;

/** Tolerance for fractions: three thirds of a token do not add up to exactly 1. */
const ROUNDING = 1e-9;

/** One bucket per name, created at its first use. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets: BoundedMap<string, Bucket> = new BoundedMap(MAX_BUCKETS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `tokens`: the cost, capped at the capacity of the bucket. */
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

  /** Takes tokens that another node has spent, also more than there are: the debt is refilled first. */
  spend(name: string, rate: Rate, tokens: number): void {
    const now = this.#clock.elapsed();
    const bucket = this.#buckets.get(name) ?? { tokens: rate.burst, at: now };
    refill(bucket, rate, now);
    bucket.tokens = Math.min(rate.burst, Math.max(-rate.burst, bucket.tokens - tokens));
    this.#buckets.set(name, bucket);
  }

  /** Returns the current allowance without taking a token. */
  peek(name: string, rate: Rate): Allowance {
    const allowance = this.take(name, rate);
    if (!allowance.allowed) return allowance;
    this.refund(name, rate);
    return { ...allowance, remaining: allowance.remaining + 1 };
  }

  /** Puts tokens back, for a request that another limit refused. */
  refund(name: string, rate: Rate, tokens = 1): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.tokens += costOf(rate, tokens);
  }
}

function costOf({ burst }: Rate, tokens: number): number {
  return Math.min(tokens, Math.max(1, burst));
}

/** Adds the tokens earned since the last refill, up to `burst`. */
export function refill(bucket: Bucket, { burst, perSecond }: Rate, now: number): void {
  bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
}
