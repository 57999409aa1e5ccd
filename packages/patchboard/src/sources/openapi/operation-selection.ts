import { matchesGlob } from '../../core/access/policy/glob.ts';

/**
 * Whether the patterns select an operation that has these spellings: one without `!` matches, or there is none, and none
 * with `!` matches.
 */
export function isSelected(spellings: readonly string[], patterns: readonly string[]): boolean {
  const matchesAny = (pattern: string): boolean => spellings.some((text) => matchesGlob(pattern, text));
  const included = patterns.filter((pattern) => !pattern.startsWith('!'));
  const excluded = patterns.filter((pattern) => pattern.startsWith('!'));
  return (
    (included.length === 0 || included.some(matchesAny)) &&
    !excluded.some((pattern) => matchesAny(pattern.slice(1)))
  );
}
