/** What a closing server must end first: streams and waits, which would hold it open for as long as they please. */
export class Openings {
  readonly #open: Set<() => void> = new Set();
  #isClosing = false;

  get size(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** `end` is called at most once, and at once if the server is closing already; the answer takes it back. */
  add(end: () => void): () => void {
    if (this.#isClosing) {
      end();
      return () => undefined;
    }
    this.#open.add(end);
    return () => {
      this.#open.delete(end);
    };
  }

  endAll(): void {
    this.#isClosing = true;
    const open = [...this.#open];
    this.#open.clear();
    for (const end of open) end();
  }
}
