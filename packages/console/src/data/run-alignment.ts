import { diffArrays } from 'diff';
import { prettyJson } from '../format.ts';

/** What a comparison of runs needs of a call. */
export interface ComparedCall {
  readonly id: string;
  readonly tool: string;
  readonly args: unknown;
  readonly state: string;
  readonly code: string;
  /** Null while it is open. */
  readonly ranMs: number | null;
}

/** Two calls that correspond; null on the side that has no such call. */
export type AlignedCalls<T extends ComparedCall = ComparedCall> =
  | { readonly a: T; readonly b: T }
  | { readonly a: T; readonly b: null }
  | { readonly a: null; readonly b: T };

/** Beyond this many differences the runs have too little in common for the time that the search takes. */
const MAX_EDITS = 500;

/**
 * Pairs the calls of two runs: the longest common sequence of tools. Each call is in exactly one pair, and both sides keep
 * their order.
 */
export function alignCalls<T extends ComparedCall>(
  a: readonly T[],
  b: readonly T[],
): readonly AlignedCalls<T>[] {
  const toolsOf = (calls: readonly T[]): string[] => calls.map(({ tool }) => tool);
  const changes = diffArrays(toolsOf(a), toolsOf(b), { maxEditLength: MAX_EDITS });
  const lefts = [...a];
  const rights = [...b];
  const aligned: AlignedCalls<T>[] = [];
  for (const { added, removed, count } of changes ?? []) {
    for (const left of added ? [] : lefts.splice(0, count)) {
      const right = removed ? undefined : rights.shift();
      aligned.push(right === undefined ? { a: left, b: null } : { a: left, b: right });
    }
    if (added) aligned.push(...rights.splice(0, count).map((right) => ({ a: null, b: right })));
  }
  return [
    ...aligned,
    ...lefts.map((left) => ({ a: left, b: null })),
    ...rights.map((right) => ({ a: null, b: right })),
  ];
}

export type CallDifference = 'missing' | 'extra' | 'args' | 'outcome' | 'duration';

/** A duration differs if one is more than this many times the other, and by more than `NOTABLE_MS`. */
const NOTABLE_RATIO = 1.5;
const NOTABLE_MS = 50;

/** In what the second call differs from the first; empty if in nothing. */
export function differencesOf({ a, b }: AlignedCalls): readonly CallDifference[] {
  if (a === null) return ['extra'];
  if (b === null) return ['missing'];
  return [
    ...(sameJson(a.args, b.args) ? [] : (['args'] as const)),
    ...(a.state === b.state && a.code === b.code ? [] : (['outcome'] as const)),
    ...(isNotable(a.ranMs, b.ranMs) ? (['duration'] as const) : []),
  ];
}

function isNotable(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return false;
  const [less, more] = one < other ? [one, other] : [other, one];
  return more - less > NOTABLE_MS && more > less * NOTABLE_RATIO;
}

/** Compares two values whatever the order of their members. */
export function sameJson(one: unknown, other: unknown): boolean {
  return sortedJson(one) === sortedJson(other);
}

/** JSON on several lines, with the members of objects in order of their names. */
export function sortedJson(value: unknown): string {
  return prettyJson(withSortedMembers(value));
}

function withSortedMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withSortedMembers(member)]));
}
