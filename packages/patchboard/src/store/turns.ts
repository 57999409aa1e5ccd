import { setImmediate as nextTurn } from 'node:timers/promises';

/** Rows handed out before the event loop gets a turn. */
const ROWS_PER_TURN = 100;

/**
 * Reading rows is synchronous work behind a promise, and promises alone give nobody else a turn: whoever reads page
 * after page would hold the thread for as long as there are rows, whatever the size of the pages.
 */
export class Turns {
  #rows = 0;

  /** Waits for a turn if one is due. */
  async after(rows: number): Promise<void> {
    this.#rows += rows;
    if (this.#rows < ROWS_PER_TURN) return;
    this.#rows = 0;
    await nextTurn();
  }
}
