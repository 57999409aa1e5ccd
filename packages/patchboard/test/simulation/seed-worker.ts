import { parentPort } from 'node:worker_threads';
import { planOf } from './plan.ts';
import { runPlan } from './run-plan.ts';
import type { SeedResult } from './seed-pool.ts';

let last: Promise<void> = Promise.resolve();

/** Runs the seeds that it receives, one after the other, and sends back the result of each. */
parentPort?.on('message', (seed: number) => {
  last = last.then(async () => parentPort?.postMessage(await run(seed)));
});

async function run(seed: number): Promise<SeedResult> {
  const { violations, counts } = await runPlan(planOf(seed));
  return { seed, violations, counts };
}
