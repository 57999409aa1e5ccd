import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { FrameRate } from './frame-rate.ts';

describe('the rate of frames', () => {
  it('lets a burst of one second through, then rests until the debt is earned back', async () => {
    const clock = new FakeClock();
    const rate = new FrameRate(clock, 100);
    for (let frame = 0; frame < 100; frame += 1) expect(rate.take()).toBe(0);
    expect(rate.take()).toBe(10);
    // What the socket had read by then still comes, and counts.
    for (let frame = 0; frame < 49; frame += 1) expect(rate.take()).toBe(0);
    await clock.advance(10);
    rate.isResting = false;
    expect(rate.take()).toBe(500);
    await clock.advance(500);
    rate.isResting = false;
    expect(rate.take()).toBe(10);
  });

  it('never saves more than one second', async () => {
    const clock = new FakeClock();
    const rate = new FrameRate(clock, 10);
    await clock.advance(60_000);
    for (let frame = 0; frame < 10; frame += 1) expect(rate.take()).toBe(0);
    expect(rate.take()).toBeGreaterThan(0);
  });
});
