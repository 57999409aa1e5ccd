import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { TokenBuckets } from './token-buckets.ts';

describe('TokenBuckets', () => {
  it('allows at most burst plus rate times time, and returns when to retry', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 60 }),
        async (burst, perSecond, pauses) => {
          const clock = new FakeClock();
          const buckets = new TokenBuckets(clock);
          let through = 0;
          for (const pause of pauses) {
            await clock.advance(pause);
            const { allowed, retryAfterMs } = buckets.take('k', { burst, perSecond });
            if (allowed) through += 1;
            else {
              expect(retryAfterMs).toBeGreaterThan(0);
              await clock.advance(retryAfterMs);
              expect(buckets.take('k', { burst, perSecond }).allowed).toBe(true);
              through += 1;
            }
          }
          expect(through).toBeLessThanOrEqual(burst + (clock.elapsed() / 1000) * perSecond + 1e-6);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('takes the cost of a request, capped at the capacity of the bucket', async () => {
    const clock = new FakeClock();
    const buckets = new TokenBuckets(clock);
    const rate = { burst: 10, perSecond: 2 };
    expect(buckets.take('a', rate, 7)).toMatchObject({ allowed: true, remaining: 3 });
    expect(buckets.take('a', rate, 5)).toMatchObject({ allowed: false, remaining: 3, retryAfterMs: 1000 });
    expect(buckets.take('a', rate, 3)).toMatchObject({ allowed: true, remaining: 0 });
    expect(buckets.take('a', rate, 100)).toMatchObject({ allowed: false, retryAfterMs: 5000 });
    await clock.advance(5000);
    expect(buckets.take('a', rate, 100)).toMatchObject({ allowed: true, remaining: 0 });
    buckets.refund('a', rate, 100);
    expect(buckets.peek('a', rate)).toMatchObject({ remaining: 10 });
  });

  it('has one bucket per name', () => {
    const buckets = new TokenBuckets(new FakeClock());
    const rate = { burst: 1, perSecond: 1 };
    expect(buckets.take('a', rate).allowed).toBe(true);
    expect(buckets.take('a', rate).allowed).toBe(false);
    expect(buckets.take('b', rate).allowed).toBe(true);
  });
});
