import type { CommittedRow } from '../core/ports.ts';

/** Tells every listener of every row, in order, also when a listener writes while it is being told. */
export class Watchers {
  readonly #listeners: Set<(committed: CommittedRow) => void> = new Set();
  #waiting: CommittedRow[] = [];
  #telling = false;

  add(listener: (committed: CommittedRow) => void): () => void {
    // Wrapped, so that the same function watching twice is two watches.
    const told = (committed: CommittedRow): void => listener(committed);
    this.#listeners.add(told);
    return () => void this.#listeners.delete(told);
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  tell(rows: readonly CommittedRow[]): void {
    if (this.isIdle) return;
    this.#waiting.push(...rows);
    if (this.#telling) return;
    this.#telling = true;
    // The list may grow while it is walked.
    for (const row of this.#waiting) {
      for (const listener of this.#listeners) tellOne(listener, row);
    }
    this.#waiting = [];
    this.#telling = false;
  }
}

function tellOne(listener: (committed: CommittedRow) => void, row: CommittedRow): void {
  try {
    listener(row);
  } catch (error) {
    // What is committed stays committed and others must hear of it; the bug still surfaces, as an uncaught exception.
    setImmediate(() => {
      throw error;
    });
  }
}
