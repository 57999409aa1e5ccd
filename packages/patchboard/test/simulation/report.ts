import type { Counts } from './counts.ts';
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
