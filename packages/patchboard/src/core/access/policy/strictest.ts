import { ANNOTATIONS_RULE, type TraceStep } from './decide.ts';

/**
 * Combines the verdicts of several policies. The tool's annotations decide only if no policy matched; otherwise the
 * strictest verdict decides, so that no policy lifts what another denies.
 */
export function strictest<Verdict extends TraceStep>(first: Verdict, others: readonly Verdict[]): Verdict {
  let result = first;
  for (const other of others) {
    if (other.rule === ANNOTATIONS_RULE) continue;
    if (result.rule === ANNOTATIONS_RULE || strictness(other) > strictness(result)) result = other;
  }
  return result;
}

/** An `ask` that hooks may override is weaker than one they may not; weakest if hooks of the agent suffice. */
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
