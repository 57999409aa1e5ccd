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
  /** Milliseconds until one more would be allowed; 0 when it is now. */
  readonly retryAfterMs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Enough for every principal and tool in use; beyond it, the one idle longest is forgotten, which only makes it full. */
const MAX_BUCKETS = 50_000;

/** Thirds of a token do not add up to one exactly. */
const ROUNDING = 1e-9;

/** One bucket per name, made when first asked for. */
export class TokenBuckets {
  readonly #clock: Clock;
  readonly #buckets: Map<string, Bucket> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(name: string, rate: Rate): Allowance {
    const now = this.#clock.elapsed();
    const bucket = this.#buckets.get(name) ?? { tokens: rate.burst, at: now };
    bucket.tokens = Math.min(rate.burst, bucket.tokens + ((now - bucket.at) / 1000) * rate.perSecond);
    bucket.at = now;
    // Last used last: the first key is always the one idle longest.
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    this.#trim();
    const standing = { limit: rate.burst, windowMs: (rate.burst / rate.perSecond) * 1000 };
    if (bucket.tokens < 1 - ROUNDING) {
      const retryAfterMs = Math.ceil(((1 - bucket.tokens) / rate.perSecond) * 1000);
      return { ...standing, allowed: false, remaining: 0, retryAfterMs };
    }
    bucket.tokens -= 1;
    const remaining = Math.max(0, Math.floor(bucket.tokens));
    return { ...standing, allowed: true, remaining, retryAfterMs: 0 };
  }

  /** How it stands now; nothing is taken. */
  look(name: string, rate: Rate): Allowance {
    const allowance = this.take(name, rate);
    if (!allowance.allowed) return allowance;
    this.putBack(name);
    return { ...allowance, remaining: allowance.remaining + 1 };
  }

  /** Puts back what another limit made useless. */
  putBack(name: string): void {
    const bucket = this.#buckets.get(name);
    if (bucket !== undefined) bucket.tokens += 1;
  }

  #trim(): void {
    if (this.#buckets.size <= MAX_BUCKETS) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
