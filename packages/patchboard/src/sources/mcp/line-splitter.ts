const NEWLINE = 10;
/** How much of the beginning and of the end of a long line is kept. */
const KEPT_BYTES = 512;
/** More parts of a line are joined: each costs more memory than its bytes if a process writes single bytes. */
const MOST_PARTS = 4096;

/** A line over the limit: its beginning and its end. */
export interface LongLine {
  readonly head: string;
  readonly tail: string;
}

/** Splits bytes into lines. A line over the limit is read to its end, and only its beginning and end are kept. */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  readonly #onLongLine: (line: LongLine) => void;
  #chunks: Buffer[] = [];
  #length = 0;
  /** Set while a long line is read. */
  #long: { head: Buffer; tail: Buffer } | null = null;

  constructor(limit: number, onLine: (line: string) => void, onLongLine: (line: LongLine) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
    this.#onLongLine = onLongLine;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    if (this.#long !== null) {
      this.#long.tail = Buffer.concat([this.#long.tail, part.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
      return;
    }
    if (this.#chunks.length === MOST_PARTS) this.#chunks = [Buffer.concat(this.#chunks)];
    this.#chunks.push(part);
    this.#length += part.length;
    if (this.#length <= this.#limit) return;
    const all = Buffer.concat(this.#chunks);
    this.#long = {
      head: Buffer.from(all.subarray(0, KEPT_BYTES)),
      tail: Buffer.from(all.subarray(-KEPT_BYTES)),
    };
    this.#chunks = [];
  }

  #endLine(): void {
    const long = this.#long;
    const line = long === null ? Buffer.concat(this.#chunks).toString() : '';
    this.#chunks = [];
    this.#length = 0;
    this.#long = null;
    if (long !== null) this.#onLongLine({ head: long.head.toString(), tail: long.tail.toString() });
    else if (line.trim() !== '') this.#onLine(line);
  }
}
