/** 1-based; columns count UTF-16 units. */
export interface PlaceInText {
  readonly line: number;
  readonly column: number;
}

/** Answers for offsets in any order, and reads the text once for all of them. */
export function placeFinder(text: string): (offset: number) => PlaceInText {
  let lines: LineStarts | null = null;
  return (offset) => {
    if (lines === null) {
      lines = new LineStarts();
      lines.add(text);
    }
    return lines.placeOf(offset);
  };
}

/** Where the lines of a text begin that arrives in pieces. */
export class LineStarts {
  readonly #starts: number[] = [0];
  #length = 0;

  add(piece: string): void {
    for (let at = piece.indexOf('\n'); at !== -1; at = piece.indexOf('\n', at + 1))
      this.#starts.push(this.#length + at + 1);
    this.#length += piece.length;
  }

  placeOf(offset: number): PlaceInText {
    const line = countUpTo(this.#starts, offset);
    return { line, column: offset - (this.#starts[line - 1] ?? 0) + 1 };
  }
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
