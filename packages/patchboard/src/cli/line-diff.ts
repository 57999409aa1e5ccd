/** One line of a comparison: in both, only before, only after. */
export interface DiffLine {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** Beyond this many comparisons the middle part is shown as replaced: right, if not the shortest. */
const MOST_COMPARISONS = 1_000_000;

/** The shortest way from one text to the other, line by line. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const now = after.split('\n');
  const head = commonLength(old, now);
  const tail = commonLength(old.slice(head).reverse(), now.slice(head).reverse());
  const middle = differing(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const same = (text: string): DiffLine => ({ mark: ' ', text });
  return [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)];
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  let length = 0;
  while (length < one.length && length < other.length && one[length] === other[length]) length += 1;
  return length;
}

function differing(old: readonly string[], now: readonly string[]): DiffLine[] {
  const removed = old.map((text): DiffLine => ({ mark: '-', text }));
  const added = now.map((text): DiffLine => ({ mark: '+', text }));
  if (old.length * now.length > MOST_COMPARISONS) return [...removed, ...added];
  const lengths = commonSubsequences(old, now);
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const [gone, come] = [removed[row], added[column]];
    if (gone !== undefined && come !== undefined && gone.text === come.text) {
      lines.push({ mark: ' ', text: gone.text });
      row += 1;
      column += 1;
    } else if (gone !== undefined && (come === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(gone);
      row += 1;
    } else if (come !== undefined) {
      lines.push(come);
      column += 1;
    }
  }
  return lines;
}

/** For every pair of positions, how many lines the rests have in common. */
function commonSubsequences(old: readonly string[], now: readonly string[]): Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let row = old.length - 1; row >= 0; row -= 1) {
    const [here, below] = [lengths[row], lengths[row + 1]];
    if (here === undefined || below === undefined) continue;
    for (let column = now.length - 1; column >= 0; column -= 1) {
      here[column] =
        old[row] === now[column]
          ? (below[column + 1] ?? 0) + 1
          : Math.max(below[column] ?? 0, here[column + 1] ?? 0);
    }
  }
  return lengths;
}
