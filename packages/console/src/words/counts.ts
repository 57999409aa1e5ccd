import { countText } from '../format.ts';

/** Values that are numbers and no counts: of a ledger row, a node, a version, and a place in a text. */
const NO_COUNTS: readonly string[] = ['seq', 'writer', 'node', 'version', 'line', 'column', 'number'];

/** Formats the counts among the values of a text. The first argument that is a number chooses between singular and plural. */
export function withCounts(given: readonly unknown[], language: string): unknown[] {
  const plural = given.find((value) => typeof value === 'number');
  const named = given.find((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
  if (plural === undefined && named === undefined) return [...given];
  const count = plural === undefined ? {} : { count: plural, n: plural };
  const texts = Object.entries({ ...count, ...(named as object | undefined) }).map(
    ([name, value]: [string, unknown]) => [
      name,
      typeof value === 'number' && !NO_COUNTS.includes(name) ? countText(value, language) : value,
    ],
  );
  return [Object.fromEntries(texts), ...(plural === undefined ? [] : [plural])];
}
