import { diffArrays } from 'diff';

/** A line of a diff: unchanged, removed or added. */
export interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** After this time the whole text is shown as replaced, which is correct but not minimal. */
const TIMEOUT_MS = 200;

/** Returns the shortest line diff of two texts. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  const changes = diffArrays(old, now, { timeout: TIMEOUT_MS });
  if (changes === undefined) return [...marked('-', old), ...marked('+', now)];
  return changes.flatMap(({ added, removed, value }) => marked(added ? '+' : removed ? '-' : ' ', value));
}

function marked(mark: DiffLine['mark'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ mark, text }));
}
