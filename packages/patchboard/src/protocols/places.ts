/** 1-based; columns count UTF-16 units. */
export interface PlaceInText {
  readonly line: number;
  readonly column: number;
}

/** Answers for ever later offsets, and reads the text once for all of them. */
export function placeFinder(text: string): (offset: number) => PlaceInText {
  let line = 1;
  let lineStart = 0;
  let next = text.indexOf('\n');
  return (offset) => {
    if (offset < lineStart) return placeFinder(text)(offset);
    while (next !== -1 && next < offset) {
      line += 1;
      lineStart = next + 1;
      next = text.indexOf('\n', lineStart);
    }
    return { line, column: offset - lineStart + 1 };
  };
}
