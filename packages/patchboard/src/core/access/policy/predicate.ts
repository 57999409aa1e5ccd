import type { PredicateView } from '@patchboard/wire';
import { valueAt } from '../../json/json-pointer.ts';
import { matchesGlob } from './glob.ts';

/** A condition on one argument; an argument that is absent fulfils none. */
export type Predicate = PredicateView;

type ConditionName = Exclude<keyof Predicate, 'arg'>;

/** One row per condition: what may be written for it, and when an argument fulfils it. */
interface Condition<Given> {
  /** A `pattern` is a text of bounded length, because it is compared for every call. */
  readonly takes: 'any value' | 'text' | 'pattern' | 'number';
  readonly holds: (value: unknown, given: Given) => boolean;
}

const numbers = (compare: (value: number, given: number) => boolean): Condition<number> => ({
  takes: 'number',
  holds: (value, given) => typeof value === 'number' && compare(value, given),
});

export const CONDITIONS: { readonly [Name in ConditionName]: Condition<NonNullable<Predicate[Name]>> } = {
  equals: { takes: 'any value', holds: isSame },
  prefix: {
    takes: 'text',
    holds: (value, prefix) => typeof value === 'string' && value.startsWith(prefix),
  },
  glob: { takes: 'pattern', holds: (value, glob) => typeof value === 'string' && matchesGlob(glob, value) },
  gt: numbers((value, given) => value > given),
  gte: numbers((value, given) => value >= given),
  lt: numbers((value, given) => value < given),
  lte: numbers((value, given) => value <= given),
};

export const CONDITION_NAMES: readonly ConditionName[] = Object.keys(CONDITIONS) as ConditionName[];

/** For messages: `equals, prefix, … or lte`. */
export const CONDITIONS_TEXT: string = `${CONDITION_NAMES.slice(0, -1).join(', ')} or ${CONDITION_NAMES.at(-1)}`;

export function holds(predicate: Predicate, args: unknown): boolean {
  const value = valueAt(args, predicate.arg);
  if (value === undefined) return false;
  return CONDITION_NAMES.every((name) => !isGiven(predicate, name) || fulfils(predicate, name, value));
}

/** Null may be compared with; what is undefined is left out. */
function isGiven(predicate: Predicate, name: ConditionName): boolean {
  return predicate[name] !== undefined || (name === 'equals' && name in predicate);
}

function fulfils(predicate: Predicate, name: ConditionName, value: unknown): boolean {
  const condition = CONDITIONS[name] as Condition<unknown>;
  return condition.holds(value, predicate[name]);
}

function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
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
