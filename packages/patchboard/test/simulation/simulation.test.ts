import { describe, expect, it } from 'vitest';
import { planOf } from './plan.ts';
import { withoutRealTime } from './real-time.ts';
import { commandFor, violationLines } from './report.ts';
import { runPlan, type Outcome } from './run-plan.ts';
import { shrink } from './shrink.ts';

/** The short form of `npm run simulate`. */
const SEEDS = 80;
/** Seeds that run twice. A use of real time or randomness shows in the first few. */
const REPEATED_SEEDS = 20;
/** A busy machine is no failure: this only ends what hangs. */
const LONG_MS = 300_000;

describe('the seeded simulation', () => {
  it('finds no violation, and repeats every history byte for byte', { timeout: LONG_MS }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const first = await runPlan(planOf(seed));
      expect(violationLines(first), commandFor(first, true)).toEqual([]);
      if (seed > REPEATED_SEEDS) continue;
      const second = await runPlan(planOf(seed));
      expect(second.history, `seed ${seed}`).toBe(first.history);
    }
  });

  it('refuses real time and real randomness while a seed runs', async () => {
    const uses: (() => unknown)[] = [
      () => Date.now(),
      () => new Date(),
      () => Math.random(),
      () => setTimeout(() => {}, 0),
      () => performance.now(),
      () => crypto.getRandomValues(new Uint8Array(1)),
    ];
    await withoutRealTime(async () => {
      for (const use of uses) expect(use, String(use)).toThrow('time and randomness come from the seed');
      expect(new Date(0).getTime()).toBe(0);
    });
    for (const use of uses) expect(use).not.toThrow();
  });

  it('leaves real time to code that is not part of the simulation', async () => {
    const outside = new Promise<number>((resolve) => {
      setTimeout(() => resolve(performance.now() + Date.now()), 1);
    });
    await withoutRealTime(async () => expect(await outside).toBeGreaterThan(0));
  });

  it('runs the same seed with fewer steps, and keeps the ids of those that remain', async () => {
    const whole = planOf(7);
    const keep = whole.steps.filter((_, index) => index % 3 === 0).map(({ id }) => id);
    const { plan, history } = await runPlan(planOf(7, { keep }));
    expect(plan.steps.map(({ id }) => id)).toEqual(keep);
    expect(history).not.toBe((await runPlan(whole)).history);
    expect(() => planOf(7, { keep: ['agents.0'] })).toThrow('seed 7 has no step agents.0');
  });

  it('shrinks a failing plan to the steps that the failure needs', async () => {
    const whole = await runPlan(planOf(12));
    // A violation that every history with a receipt has.
    const failing: Outcome = { ...whole, violations: [{ check: 'quiet', problem: 'planted' }] };
    const runs: number[] = [];
    const smallest = await shrink(failing, async (plan) => {
      const outcome = await runPlan(plan);
      runs.push(plan.steps.length);
      const violations = outcome.history.includes(' receipt ') ? failing.violations : [];
      return { ...outcome, violations };
    });
    expect(smallest.plan.steps).toHaveLength(1);
    expect(smallest.plan.steps[0]?.do).toBe('submit');
    expect(runs.length).toBeLessThan(whole.plan.steps.length * 4);
  });
});
