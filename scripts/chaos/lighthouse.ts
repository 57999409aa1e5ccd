/** Tells everybody where the server is now, and lets them wait while it is nowhere. */
export class Lighthouse {
  #url: string | null = null;
  #waiting: (() => void)[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  up(url: string): void {
    this.#url = url;
    this.#wake();
  }

  down(): void {
    this.#url = null;
  }

  /** Nobody is to start anything new. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The URL as soon as there is one; null when it is over. */
  async find(): Promise<string | null> {
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
