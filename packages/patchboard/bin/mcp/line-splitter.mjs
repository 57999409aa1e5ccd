/**
 * Either the text of a line, or both ends of one that is over the limit.
 * @typedef {{ text: string, overlong?: undefined } | { text?: undefined, overlong: { head: string, tail: string } }} Line
 */

/** Splits bytes into lines. Of a line over the limit it keeps both ends only, in which the id of a request can be found. */
export class LineSplitter {
  #limit;
  #parts = [];
  #bytes = 0;
  /** @type {string | null} */
  #head = null;

  constructor(limit) {
    this.#limit = limit;
  }

  *push(chunk) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, at));
      from = at + 1;
      yield this.#take();
    }
    this.#add(chunk.subarray(from));
  }

  /** Yields the last line if it has no line end. */
  *end() {
    if (this.#bytes > 0) yield this.#take();
  }

  #add(part) {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#limit) return;
    const all = Buffer.concat(this.#parts);
    this.#head ??= all.subarray(0, 1024).toString('latin1');
    this.#parts = [Buffer.from(all.subarray(-1024))];
  }

  /** @returns {Line} */
  #take() {
    const text = Buffer.concat(this.#parts).toString('utf8').replace(/\r$/, '');
    const line = this.#head === null ? { text } : { overlong: { head: this.#head, tail: text } };
    this.#parts = [];
    this.#bytes = 0;
    this.#head = null;
    return line;
  }
}
