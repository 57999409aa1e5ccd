import type { PredicateView } from '@patchboard/wire';
import { valueAt } from '@patchboard/wire/json';
import { matchesGlob } from './glob.ts';

/** A condition on one argument: all of its comparisons must hold. An absent argument fulfils none. */
export type ArgumentCondition = PredicateView;

type ComparisonName = Exclude<keyof ArgumentCondition, 'arg'>;

/** One kind of comparison: the operand it accepts, and when an argument fulfils it. */
interface Comparison<Operand> {
  /** A `pattern` is a text of bounded length, because it is matched for every call. */
  readonly takes: 'any value' | 'text' | 'pattern' | 'number';
  readonly holds: (value: unknown, operand: Operand) => boolean;
}

const numeric = (compare: (value: number, operand: number) => boolean): Comparison<number> => ({
  takes: 'number',
  holds: (value, operand) => typeof value === 'number' && compare(value, operand),
});

export const COMPARISONS: {
  readonly [Name in ComparisonName]: Comparison<NonNullable<ArgumentCondition[Name]>>;
} = {
  equals: { takes: 'any value', holds: isSame },
  prefix: {
    takes: 'text',
    holds: (value, prefix) => typeof value === 'string' && value.startsWith(prefix),
  },
  glob: { takes: 'pattern', holds: (value, glob) => typeof value === 'string' && matchesGlob(glob, value) },
  gt: numeric((value, operand) => value > operand),
  gte: numeric((value, operand) => value >= operand),
  lt: numeric((value, operand) => value < operand),
  lte: numeric((value, operand) => value <= operand),
};

export const COMPARISON_NAMES: readonly ComparisonName[] = Object.keys(COMPARISONS) as ComparisonName[];

/** For messages: `equals, prefix, … or lte`. */
export const COMPARISONS_TEXT: string = `${COMPARISON_NAMES.slice(0, -1).join(', ')} or ${COMPARISON_NAMES.at(-1)}`;

export function holds(condition: ArgumentCondition, args: unknown): boolean {
  const value = valueAt(args, condition.arg);
  if (value === undefined) return false;
  return COMPARISON_NAMES.every((name) => !isGiven(condition, name) || fulfils(condition, name, value));
}

/** `equals: null` is a comparison; an undefined member is ignored. */
function isGiven(condition: ArgumentCondition, name: ComparisonName): boolean {
  return condition[name] !== undefined || (name === 'equals' && name in condition);
}

function fulfils(condition: ArgumentCondition, name: ComparisonName, value: unknown): boolean {
  const comparison = COMPARISONS[name] as Comparison<unknown>;
  return comparison.holds(value, condition[name]);
}

function isSame(a: unknown, b: unknown): boolean {
  // Not Object.is: -0 is 0 in the text that the tool gets.
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isSame((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}
