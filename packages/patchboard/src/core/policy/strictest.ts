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

/** An ask that hooks may lift is weaker than one that they may not. */
export function strictness({ effect, isOpen }: Pick<TraceStep, 'effect' | 'isOpen'>): number {
  switch (effect) {
    case 'allow':
      return 0;
    case 'ask':
      return isOpen === true ? 1 : 2;
    case 'deny':
      return 3;
  }
}
