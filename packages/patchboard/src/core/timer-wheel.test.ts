import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { TimerWheel } from './timer-wheel.ts';

describe('TimerWheel', () => {
  it('fires each timer once, never early, at most two ticks late, unless it was called off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.nat({ max: 5000 }), callOff: fc.boolean() }), { maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 12 }),
        async (timers, steps) => {
          const clock = new FakeClock();
          const wheel = new TimerWheel(clock);
          const fired = timers.map(() => -1);
          const callOffs = timers.map(({ ms }, index) =>
            wheel.after(ms, () => {
              expect(fired[index]).toBe(-1);
              fired[index] = clock.elapsed();
            }),
          );
          timers.forEach(({ callOff }, index) => callOff && callOffs[index]!());
          for (const step of steps) await clock.advance(step);
          timers.forEach(({ ms, callOff }, index) => {
            const at = fired[index]!;
            if (callOff) expect(at).toBe(-1);
            else if (at === -1) expect(clock.elapsed()).toBeLessThan(ms + 100);
            else expect(at).toBeGreaterThanOrEqual(ms);
            if (at !== -1) expect(at).toBeLessThanOrEqual(ms + 100);
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('does not notice when the wall clock jumps', async () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    let fired = 0;
    wheel.after(1000, () => (fired += 1));
    clock.jumpWall(3_600_000);
    await clock.advance(900);
    expect(fired).toBe(0);
    clock.jumpWall(-7_200_000);
    await clock.advance(200);
    expect(fired).toBe(1);
  });

  it('takes every tick, also when an action is slow and arms another timer', async () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    let firedAt = -1;
    wheel.after(100, () => {
      clock.pass(60); // the action itself takes longer than a tick
      wheel.after(60_000, () => {});
    });
    wheel.after(140, () => (firedAt = clock.elapsed()));
    for (const ms of [200, 300, 400]) wheel.after(ms, () => {});
    await clock.advance(1000);
    expect(firedAt).toBeGreaterThanOrEqual(140);
    expect(firedAt).toBeLessThanOrEqual(260);
  });

  it('fires in order after a long sleep', async () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    const order: number[] = [];
    for (const ms of [900, 100, 500]) wheel.after(ms, () => order.push(ms));
    await clock.advance(100_000);
    expect(order).toEqual([100, 500, 900]);
  });

  it('does not fire a timer that another one of the same tick has cancelled', async () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    const fired: string[] = [];
    wheel.after(100, () => {
      fired.push('first');
      cancel();
    });
    const cancel = wheel.after(100, () => fired.push('second'));
    wheel.after(100, () => fired.push('third'));
    await clock.advance(1000);
    expect(fired).toEqual(['first', 'third']);
    expect(clock.armed).toBe(0);
  });

  it('fires nothing more in the tick in which it is cleared', async () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    const fired: string[] = [];
    wheel.after(100, () => {
      fired.push('first');
      wheel.clear();
    });
    wheel.after(100, () => fired.push('second'));
    await clock.advance(1000);
    expect(fired).toEqual(['first']);
    expect(clock.armed).toBe(0);
  });

  it('keeps nothing of cancelled timers that were far away, however many ticks they were for', () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    wheel.after(90_000_000, () => {});
    for (let calls = 0; calls < 10_000; calls += 1) {
      clock.pass(50);
      wheel.after(80_000_000, () => {})();
    }
    expect(wheel.ticks).toBe(1);
  });

  it('fires any number of timers of one tick, such as the deadlines that passed before a start', async () => {
    const clock = new FakeClock();
    const wheel = new TimerWheel(clock);
    let fired = 0;
    for (let calls = 0; calls < 200_000; calls += 1) wheel.after(-1000, () => (fired += 1));
    await clock.advance(100);
    expect(fired).toBe(200_000);
  });
});
