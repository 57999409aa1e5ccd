const BACKTICK = 0x60;

/** The runs of backticks of a text, by length: a code span ends at the next run as long as the one it began with. */
export class TickRuns {
  readonly #starts: Map<number, number[]> = new Map();

  /** A run that may go on in the next piece is left out: nobody knows its length yet. */
  constructor(text: string, from: number, isLast: boolean) {
    for (let at = text.indexOf('`', from); at !== -1;) {
      const end = endOfRun(text, at, BACKTICK);
      if (end === text.length && !isLast) break;
      const starts = this.#starts.get(end - at);
      if (starts === undefined) this.#starts.set(end - at, [at]);
      else starts.push(at);
      at = text.indexOf('`', end);
    }
  }

  /** Where the first run of this length from `from` on begins; `Infinity` if there is none. */
  next(length: number, from: number): number {
    const starts = this.#starts.get(length) ?? [];
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? Infinity) < from) low = middle + 1;
      else high = middle;
    }
    return starts[low] ?? Infinity;
  }
}

/** The index behind a run of one character that begins at `at` or is empty there. */
export function endOfRun(text: string, at: number, code: number): number {
  let end = at;
  while (text.charCodeAt(end) === code) end += 1;
  return end;
}
