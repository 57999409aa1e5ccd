import type { PredicateView } from '@patchboard/wire';
import { pointerOf } from '../forms/args-text.ts';

const COMPARISONS = ['any', 'equals', 'prefix', 'glob', 'gte', 'lte'] as const;

export type Comparison = (typeof COMPARISONS)[number];

/** A grant's condition on one argument; initially equality with the current value. */
export interface Condition {
  readonly arg: string;
  /** The value in the waiting call. */
  readonly value: unknown;
  comparison: Comparison;
  /** For `prefix` and `glob`. */
  text: string;
  /** For `gte` and `lte`. */
  number: number;
}

/** One condition for each leaf value of the arguments; a list is one value, and so is an empty object. */
export function conditionsOn(args: unknown): Condition[] {
  return leavesOf(args, []).map(([path, value]) => ({
    arg: pointerOf(path),
    value,
    comparison: 'equals',
    text: typeof value === 'string' ? value : '',
    number: typeof value === 'number' ? value : 0,
  }));
}

function leavesOf(value: unknown, path: readonly string[]): (readonly [string[], unknown])[] {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
  const members = isGroup ? Object.entries(value) : [];
  // Without arguments there is nothing to have a condition on.
  if (!isGroup || (members.length === 0 && path.length > 0)) return [[[...path], value]];
  return members.flatMap(([name, member]) => leavesOf(member, [...path, name]));
}

/** The comparisons for a value of this type. */
export function comparisonsFor(value: unknown): readonly Comparison[] {
  if (typeof value === 'string') return ['any', 'equals', 'prefix', 'glob'];
  return typeof value === 'number' ? ['any', 'equals', 'gte', 'lte'] : ['any', 'equals'];
}

export function predicatesOf(conditions: readonly Condition[]): PredicateView[] {
  return conditions.flatMap(({ arg, value, comparison, text, number }): PredicateView[] => {
    switch (comparison) {
      case 'any':
        return [];
      case 'equals':
        return [{ arg, equals: value }];
      case 'prefix':
        return [{ arg, prefix: text }];
      case 'glob':
        return [{ arg, glob: text }];
      case 'gte':
        return [{ arg, gte: number }];
      case 'lte':
        return [{ arg, lte: number }];
    }
  });
}

/** Describes each comparison; `say` translates its name. */
export function conditionWords(
  when: readonly PredicateView[],
  say: (comparison: string) => string,
): string[] {
  return when.flatMap(({ arg, ...tests }) =>
    Object.entries(tests).map(([name, value]) => `${arg} ${say(name)} ${JSON.stringify(value)}`),
  );
}
