/**
 * Shares the event loop between requests with long work: one slice of work per turn, first in, first out. Without it, all
 * of them would run a slice in the same turn.
 */
export class EventLoopTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. */
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
