const BACKTICK = 0x60;

/** Index of the runs of backticks of a text by length: a code span ends at the next run of the same length. */
export class TickRuns {
  readonly #starts: Map<number, number[]> = new Map();

  /** Leaves out a run at the end of the text that may continue in the next piece. */
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

  /** The index of the first run of this length from `from` on; `Infinity` if there is none. */
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

/** The index behind the run of one character at `at`; `at` if there is none. */
export function endOfRun(text: string, at: number, code: number): number {
  let end = at;
  while (text.charCodeAt(end) === code) end += 1;
  return end;
}
