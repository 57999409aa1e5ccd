import { NO_WORD, type TraceStep } from './decide.ts';

/**
 * What several policies say together. What the tool says of itself counts only where none of them has a word; of those
 * that have, the strictest counts: nobody lifts what another forbids.
 */
export function strictest<Verdict extends TraceStep>(first: Verdict, others: readonly Verdict[]): Verdict {
  let standing = first;
  for (const other of others) {
    if (other.rule === NO_WORD) continue;
    if (standing.rule === NO_WORD || strictness(other) > strictness(standing)) standing = other;
  }
  return standing;
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
