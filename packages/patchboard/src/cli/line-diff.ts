import { diffArrays } from 'diff';

/** One line of a comparison: in both, only before, only after. */
export interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** Past it everything is shown as replaced: right, if not the shortest. */
const PATIENCE_MS = 200;

/** The shortest way from one text to the other, line by line. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  const changes = diffArrays(old, now, { timeout: PATIENCE_MS });
  if (changes === undefined) return [...marked('-', old), ...marked('+', now)];
  return changes.flatMap(({ added, removed, value }) => marked(added ? '+' : removed ? '-' : ' ', value));
}

function marked(mark: DiffLine['mark'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ mark, text }));
}
