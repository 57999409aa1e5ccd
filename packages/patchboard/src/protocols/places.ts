/** 1-based; columns count UTF-16 units. */
export interface PlaceInText {
  readonly line: number;
  readonly column: number;
}

/** Answers for offsets in any order, and reads the text once for all of them. */
export function placeFinder(text: string): (offset: number) => PlaceInText {
  let starts: readonly number[] | null = null;
  return (offset) => {
    starts ??= lineStarts(text);
    const line = countUpTo(starts, offset);
    return { line, column: offset - (starts[line - 1] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** How many of them, which rise, are not above `most`. */
function countUpTo(starts: readonly number[], most: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
