import type { ContractDifference } from '@patchboard/wire';
import { prettyJson } from '../../format.ts';

type DifferenceKind = 'added' | 'removed' | 'replaced';

/** A difference as two texts for a line diff. */
export interface DifferenceTexts {
  readonly kind: DifferenceKind;
  readonly before: string;
  readonly after: string;
}

/** Two texts are compared line by line as they are. Other values are JSON: the number 1 differs from the text "1". */
export function textsOf(difference: ContractDifference): DifferenceTexts {
  const { before, after } = difference;
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'replaced';
  if (typeof before === 'string' && typeof after === 'string') return { kind, before, after };
  const text = (value: unknown): string => (value === undefined ? '' : prettyJson(value));
  return { kind, before: text(before), after: text(after) };
}
