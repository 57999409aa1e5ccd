import type { CommittedRow } from '../core/ports.ts';

/** Calls every listener for every row, in order, also if a listener writes rows itself. */
export class Watchers {
  readonly #listeners: Set<(committed: CommittedRow) => void> = new Set();
  #queue: CommittedRow[] = [];
  #isNotifying = false;

  add(listener: (committed: CommittedRow) => void): () => void {
    // Wrapped, so that a function can be added twice.
    const wrapped = (committed: CommittedRow): void => listener(committed);
    this.#listeners.add(wrapped);
    return () => void this.#listeners.delete(wrapped);
  }

  get isIdle(): boolean {
    return this.#listeners.size === 0;
  }

  notify(rows: readonly CommittedRow[]): void {
    if (this.isIdle) return;
    this.#queue.push(...rows);
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    // The queue may grow during the iteration.
    for (const row of this.#queue) {
      for (const listener of this.#listeners) callListener(listener, row);
    }
    this.#queue = [];
    this.#isNotifying = false;
  }
}

function callListener(listener: (committed: CommittedRow) => void, row: CommittedRow): void {
  try {
    listener(row);
  } catch (error) {
    // The rows are committed, so the other listeners must still be called. The error becomes an uncaught exception.
    setImmediate(() => {
      throw error;
    });
  }
}
