import type { Api } from './server-api.ts';

/** Holds the current API of the server, and lets agents and clients wait while it is down. */
export class ServerAddress {
  #api: Api | null = null;
  #waiting: (() => void)[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  set(api: Api): void {
    this.#api = api;
    this.#wake();
  }

  clear(): void {
    this.#api = null;
  }

  /** Ends the test: no new requests. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves to the API as soon as there is one, or null when the test has ended. */
  async wait(): Promise<Api | null> {
    while (this.#api === null && !this.#isOver) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#isOver ? null : this.#api;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
