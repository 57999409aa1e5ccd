import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { mutated, sourceOf, type Mutant } from './mutant.ts';
import type { Found, Searched } from './run-mutants.ts';

// A worker thread with one mutant: the file is changed as it is loaded, so every module of the simulation comes after the hook.
const mutant = workerData as Mutant;
const url = sourceOf(mutant).href;
let isLoaded = false;

registerHooks({
  load: (loading, context, next) => {
    const loaded = next(loading, context);
    if (loading !== url) return loaded;
    isLoaded = true;
    return { ...loaded, source: mutated(mutant, textOf(loaded.source)) };
  },
});

const { planOf } = await import('../plan.ts');
const { runPlan } = await import('../run-plan.ts');
if (!isLoaded) throw new Error(`the simulation does not load ${mutant.file}`);
report({ kind: 'done', found: await find() });

function report(searched: Searched): void {
  parentPort?.postMessage(searched);
}

function textOf(source: string | NodeJS.ArrayBufferView | ArrayBuffer | undefined): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source);
}

/** Runs seeds until a check fails. */
async function find(): Promise<Found | null> {
  for (let seed = 1; seed <= mutant.seeds; seed += 1) {
    report({ kind: 'seed', seed });
    const [violation] = (await runPlan(planOf(seed))).violations;
    if (violation !== undefined) return { seed, check: violation.check, problem: violation.problem };
  }
  return null;
}
