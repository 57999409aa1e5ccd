import { planOf, type Plan } from './plan.ts';
import { runPlan, type Outcome } from './run-plan.ts';

/** Simulations that one search for a smaller plan may take. */
const MAX_RUNS = 400;

/**
 * Removes steps from a failing plan while the same check still fails (delta debugging): first halves, then smaller parts, at
 * last single steps. Returns the outcome of the smallest plan that was found.
 */
export async function shrink(
  failing: Outcome,
  run: (plan: Plan) => Promise<Outcome> = runPlan,
): Promise<Outcome> {
  const check = failing.violations[0]?.check;
  let smallest = failing;
  let runs = 0;
  const stillFails = async (keep: readonly string[]): Promise<boolean> => {
    runs += 1;
    const { seed, profile } = failing.plan;
    const outcome = await run(planOf(seed, { keep, profile }));
    const fails = outcome.violations.some((violation) => violation.check === check);
    if (fails) smallest = outcome;
    return fails;
  };
  let parts = 2;
  for (;;) {
    const ids = smallest.plan.steps.map(({ id }) => id);
    if (ids.length === 0 || runs >= MAX_RUNS) return smallest;
    const size = Math.max(1, Math.ceil(ids.length / parts));
    let hasShrunk = false;
    for (let from = 0; from < ids.length && runs < MAX_RUNS; from += size) {
      const rest = ids.filter((_, index) => index < from || index >= from + size);
      hasShrunk = await stillFails(rest);
      if (hasShrunk) break;
    }
    if (hasShrunk) parts = Math.max(2, parts - 1);
    else if (size === 1) return smallest;
    else parts = Math.min(ids.length, parts * 2);
  }
}
