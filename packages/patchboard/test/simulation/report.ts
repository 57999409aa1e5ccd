import type { Counts } from './counts.ts';
import type { MutantResult } from './mutants/run-mutants.ts';
import type { Outcome } from './run-plan.ts';

/** The command that repeats a simulation. */
export function commandFor({ plan }: Pick<Outcome, 'plan'>, isWhole: boolean): string {
  const keep = isWhole ? '' : ` --keep ${plan.steps.map(({ id }) => id).join(',')}`;
  return `npm run simulate -- --seed ${plan.seed}${keep}`;
}

export function violationLines({ violations }: Pick<Outcome, 'violations'>): string[] {
  return violations.map(({ check, problem }) => `  ✗ ${check}: ${problem}`);
}

export function profileLine({ plan: { profile, steps } }: Pick<Outcome, 'plan'>): string {
  const facts = Object.entries(profile).map(([name, value]) => `${name} ${value}`);
  return `${steps.length} steps · ${facts.join(' · ')}`;
}

export function countsLine(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
    .join(' · ');
}

export const mutantHeading: string = mutantRow('seed', 'of', 'found by', 'the product');

export function mutantLine({ mutant: { name, seeds }, found }: MutantResult): string {
  return found === null
    ? mutantRow('✗', seeds, 'nothing', name)
    : mutantRow(found.seed, seeds, found.check, name);
}

function mutantRow(seed: string | number, seeds: string | number, check: string, name: string): string {
  return `${String(seed).padStart(6)}${String(seeds).padStart(6)}  ${check.padEnd(14)}${name}`;
}
