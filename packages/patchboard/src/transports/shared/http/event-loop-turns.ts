/**
 * Shares the event loop between requests whose work takes long: one piece of work a turn, in the order in which they
 * asked. Each by itself would run a piece in the same turn as all the others.
 */
export class EventLoopTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the asker's turn. */
  readonly next = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#schedule();
    });
  };

  #schedule(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
