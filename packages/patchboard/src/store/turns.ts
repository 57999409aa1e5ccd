import { setImmediate as nextTurn } from 'node:timers/promises';

/** Rows returned before yielding to the event loop. */
const ROWS_PER_TURN = 100;

/**
 * Yields to the event loop between pages. Reads are synchronous work in a promise, and promises alone do not yield: a caller
 * that reads page after page would block the event loop, whatever the size of the pages.
 */
export class Turns {
  #rows = 0;

  /** Yields to the event loop if enough rows were read. */
  async after(rows: number): Promise<void> {
    this.#rows += rows;
    if (this.#rows < ROWS_PER_TURN) return;
    this.#rows = 0;
    await nextTurn();
  }
}
