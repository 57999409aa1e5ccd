import { matchesGlob } from '../../core/access/policy/glob.ts';

/**
 * Whether patterns such as `["*", "!delete_*"]` select a tool. A pattern that begins with `!` excludes, whatever its place in the
 * list; without other patterns everything else is selected. A tool may have several spellings, and a pattern may match any of them.
 */
export function isSelected(spellings: readonly string[], patterns: readonly string[]): boolean {
  const matches = (pattern: string): boolean => spellings.some((text) => matchesGlob(pattern, text));
  if (patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return false;
  const included = patterns.filter((pattern) => !pattern.startsWith('!'));
  return included.length === 0 || included.some(matches);
}
