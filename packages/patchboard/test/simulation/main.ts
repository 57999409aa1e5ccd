// npm run simulate -- [options]: see `arguments.ts`.
import process from 'node:process';
import { commandOf, HELP, type Command } from './arguments.ts';
import { sumOf } from './counts.ts';
import { MUTANTS } from './mutants/mutants.ts';
import { runMutants } from './mutants/run-mutants.ts';
import { planOf } from './plan.ts';
import { commandFor, countsLine, mutantHeading, mutantLine, profileLine, violationLines } from './report.ts';
import { runPlan } from './run-plan.ts';
import { runSeeds, type SeedResult } from './seed-pool.ts';
import { shrink } from './shrink.ts';

const PROGRESS_MS = 2000;

process.exitCode = await main(commandOf(process.argv.slice(2)));

async function main(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      print(HELP.trimEnd());
      return 0;
    case 'invalid':
      process.stderr.write(`${command.problem}\n\n${HELP}`);
      return 2;
    case 'mutants':
      return await runAllMutants(command.workers);
    case 'seed':
      return await runOne(command);
    case 'seeds':
      return await runMany(command);
  }
}

async function runOne({ seed, keep }: Extract<Command, { kind: 'seed' }>): Promise<number> {
  const outcome = await runPlan(planOf(seed, keep === null ? {} : { keep }));
  print(`seed ${seed} · ${profileLine(outcome)}`);
  print(outcome.history.trimEnd());
  print(countsLine(outcome.counts));
  for (const line of violationLines(outcome)) print(line);
  print(outcome.violations.length === 0 ? '✓ every check held' : `✗ ${outcome.violations.length} violations`);
  return outcome.violations.length === 0 ? 0 : 1;
}

async function runMany({ from, to, workers, shrinks }: Extract<Command, { kind: 'seeds' }>): Promise<number> {
  const began = performance.now();
  const results: SeedResult[] = [];
  const count = to - from + 1;
  let printedAt = began;
  print(`Patchboard simulation · seeds ${from}-${to} · ${workers} workers · Node ${process.version}`);
  await runSeeds(from, to, workers, (result) => {
    results.push(result);
    if (result.violations.length > 0) print(`✗ seed ${result.seed}: ${result.violations[0]?.check}`);
    if (performance.now() - printedAt < PROGRESS_MS) return;
    printedAt = performance.now();
    print(`  ${results.length} of ${count} seeds · ${rate(results.length, began)}`);
  });
  const failed = results.filter(({ violations }) => violations.length > 0).sort((a, b) => a.seed - b.seed);
  print(countsLine(sumOf(results.map(({ counts }) => counts))));
  print(`${count} seeds in ${((performance.now() - began) / 1000).toFixed(1)} s · ${rate(count, began)}`);
  const [first] = failed;
  if (first === undefined) {
    print('✓ every check held');
    return 0;
  }
  print(`✗ ${failed.length} seeds failed: ${failed.map(({ seed }) => seed).join(', ')}`);
  await explain(first.seed, shrinks);
  return 1;
}

/** Every fault must be found. */
async function runAllMutants(workers: number): Promise<number> {
  const began = performance.now();
  print(`Patchboard simulation · ${MUTANTS.length} mutants · ${workers} workers · Node ${process.version}`);
  print(mutantHeading);
  let missed = 0;
  await runMutants(MUTANTS, workers, (result) => {
    if (result.found === null) missed += 1;
    print(mutantLine(result));
  });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  print(missed === 0 ? `✓ every mutant was found, in ${seconds} s` : `✗ ${missed} mutants were not found`);
  return missed === 0 ? 0 : 1;
}

/** Prints the first failing seed with as few steps as possible. */
async function explain(seed: number, shrinks: boolean): Promise<void> {
  const whole = await runPlan(planOf(seed));
  const outcome = shrinks ? await shrink(whole) : whole;
  print(`\nseed ${seed} · ${profileLine(outcome)}`);
  print(outcome.history.trimEnd());
  for (const line of violationLines(outcome)) print(line);
  print(`Again: ${commandFor(outcome, outcome === whole)}`);
}

function rate(seeds: number, began: number): string {
  return `${((seeds * 1000) / (performance.now() - began)).toFixed(1)} seeds per second`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
