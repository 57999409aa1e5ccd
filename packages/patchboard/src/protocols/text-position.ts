/** A 1-based position; columns count UTF-16 units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Returns a function from offset to position. It scans the text once, and accepts offsets in any order. */
export function positionFinder(text: string): (offset: number) => TextPosition {
  let lines: LineStarts | null = null;
  return (offset) => {
    if (lines === null) {
      lines = new LineStarts();
      lines.add(text);
    }
    return lines.placeOf(offset);
  };
}

/** The offsets of line starts in a text that arrives in pieces. */
export class LineStarts {
  readonly #starts: number[] = [0];
  #length = 0;

  add(piece: string): void {
    for (let at = piece.indexOf('\n'); at !== -1; at = piece.indexOf('\n', at + 1))
      this.#starts.push(this.#length + at + 1);
    this.#length += piece.length;
  }

  placeOf(offset: number): TextPosition {
    const line = countUpTo(this.#starts, offset);
    return { line, column: offset - (this.#starts[line - 1] ?? 0) + 1 };
  }
}

/** Binary search: the number of sorted `starts` that are at most `limit`. */
function countUpTo(starts: readonly number[], limit: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
