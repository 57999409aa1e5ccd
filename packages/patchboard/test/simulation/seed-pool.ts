import { Worker } from 'node:worker_threads';
import type { Violation } from './checks/check.ts';
import type { Counts } from './counts.ts';

export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}

/** Seeds that a worker has at a time, so that it does not wait for the next one. */
const AHEAD = 4;

/** Runs the seeds in worker threads, and calls `took` with the result of each, in any order. */
export async function runSeeds(
  from: number,
  to: number,
  workers: number,
  took: (result: SeedResult) => void,
): Promise<void> {
  let next = from;
  const runWorker = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('seed-worker.ts', import.meta.url), {
        execArgv: ['--conditions=patchboard-source'],
      });
      let waiting = 0;
      const feed = (): void => {
        for (; waiting < AHEAD && next <= to; next += 1) {
          worker.postMessage(next);
          waiting += 1;
        }
        if (waiting === 0) worker.terminate().then(() => resolve(), reject);
      };
      worker.on('error', reject);
      worker.on('message', (result: SeedResult) => {
        waiting -= 1;
        took(result);
        feed();
      });
      feed();
    });
  await Promise.all(Array.from({ length: Math.min(workers, to - from + 1) }, runWorker));
}
