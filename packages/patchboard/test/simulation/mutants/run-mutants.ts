import { Worker } from 'node:worker_threads';
import type { Mutant } from './mutant.ts';

/** The first seed with a violation. */
export interface Found {
  readonly seed: number;
  readonly check: string;
  readonly problem: string;
}

/** What a worker reports: the seed that it begins, or its result. */
export type Searched =
  { readonly kind: 'seed'; readonly seed: number } | { readonly kind: 'done'; readonly found: Found | null };

export interface MutantResult {
  readonly mutant: Mutant;
  /** Null: no seed found it. */
  readonly found: Found | null;
}

/** Real milliseconds for one seed, after which a mutant that keeps the simulation from ending counts as found. */
const ENDLESS_MS = 60_000;

/** Runs the mutants in worker threads, each in one of its own, and calls `took` with the result of each, in any order. */
export async function runMutants(
  mutants: readonly Mutant[],
  workers: number,
  took: (result: MutantResult) => void,
): Promise<void> {
  const waiting = [...mutants];
  const work = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift())
      took({ mutant, found: await foundBySimulation(mutant) });
  };
  await Promise.all(Array.from({ length: workers }, work));
}

async function foundBySimulation(mutant: Mutant): Promise<Found | null> {
  const worker = new Worker(new URL('mutant-worker.ts', import.meta.url), {
    workerData: mutant,
    execArgv: ['--conditions=patchboard-source'],
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      worker.on('error', reject);
      worker.on('message', (message: Searched) => {
        clearTimeout(timer);
        if (message.kind === 'done') return resolve(message.found);
        const endless = { seed: message.seed, check: 'end', problem: `no end within ${ENDLESS_MS / 1000} s` };
        timer = setTimeout(() => resolve(endless), ENDLESS_MS);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
