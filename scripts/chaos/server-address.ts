/** Holds the current URL of the server, and lets agents and clients wait while it is down. */
export class ServerAddress {
  #url: string | null = null;
  #waiting: (() => void)[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  set(url: string): void {
    this.#url = url;
    this.#wake();
  }

  clear(): void {
    this.#url = null;
  }

  /** Ends the test: no new requests. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves to the URL as soon as there is one, or null when the test has ended. */
  async wait(): Promise<string | null> {
    while (this.#url === null && !this.#isOver) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#isOver ? null : this.#url;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
