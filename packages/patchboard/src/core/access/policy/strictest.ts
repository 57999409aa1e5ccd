import { ANNOTATIONS_RULE, type TraceStep } from './decide.ts';

/**
 * Combines the verdicts of several policies: the strictest counts, so that no policy lifts what another forbids. The tool's
 * own annotations count only if no policy decides.
 */
export function strictest<Verdict extends TraceStep>(first: Verdict, others: readonly Verdict[]): Verdict {
  let current = first;
  for (const other of others) {
    if (other.rule === ANNOTATIONS_RULE) continue;
    if (current.rule === ANNOTATIONS_RULE || strictness(other) > strictness(current)) current = other;
  }
  return current;
}

/** An ask that hooks may lift is weaker than one that they may not, the more so the more hooks may. */
export function strictness({ effect, opensTo }: Pick<TraceStep, 'effect' | 'opensTo'>): number {
  switch (effect) {
    case 'allow':
      return 0;
    case 'ask':
      return opensTo === undefined ? 3 : opensTo === 'board' ? 2 : 1;
    case 'deny':
      return 4;
  }
}
