import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { FrameRate } from './frame-rate.ts';

describe('FrameRate', () => {
  it('allows a burst of one second, then pauses until the bucket is no longer negative', async () => {
    const clock = new FakeClock();
    const rate = new FrameRate(clock, 100);
    for (let frame = 0; frame < 100; frame += 1) expect(rate.take()).toBe(0);
    expect(rate.take()).toBe(10);
    // Frames that the socket had already read still arrive and count.
    for (let frame = 0; frame < 49; frame += 1) expect(rate.take()).toBe(0);
    await clock.advance(10);
    rate.isResting = false;
    expect(rate.take()).toBe(500);
    await clock.advance(500);
    rate.isResting = false;
    expect(rate.take()).toBe(10);
  });

  it('holds tokens for one second at most', async () => {
    const clock = new FakeClock();
    const rate = new FrameRate(clock, 10);
    await clock.advance(60_000);
    for (let frame = 0; frame < 10; frame += 1) expect(rate.take()).toBe(0);
    expect(rate.take()).toBeGreaterThan(0);
  });
});
