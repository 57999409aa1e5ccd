import type { Store } from '../ports.ts';
import type { EventRow, EventRowFilter } from './event-slice.ts';

/** Rows read for one reader before it yields to others: a fraction of a millisecond. */
const SLICE_ROWS = 32;

/** Reads the existing rows for one reader in slices. Rows that the reader did not accept stay for the next slice. */
export class CatchUp {
  readonly #store: Pick<Store, 'readEvents'>;
  readonly #filter: EventRowFilter;
  #rows: readonly EventRow[] = [];
  #taken = 0;
  #reached: number;
  #isEnd = false;

  constructor(store: Pick<Store, 'readEvents'>, filter: EventRowFilter, after: number) {
    this.#store = store;
    this.#filter = filter;
    this.#reached = after;
  }

  /** Passes rows to `take` until it returns false or the slice ends. */
  async slice(take: (row: EventRow) => boolean): Promise<void> {
    if (this.#isEmpty()) {
      const { rows, reached, isEnd } = await this.#store.readEvents(this.#filter, this.#reached, SLICE_ROWS);
      this.#rows = rows;
      this.#taken = 0;
      this.#reached = reached;
      this.#isEnd = isEnd;
    }
    for (let row = this.#next(); row !== undefined; row = this.#next()) if (!take(row)) return;
  }

  /** Every matching row up to this sequence was read. */
  get reached(): number {
    return this.#reached;
  }

  /** Whether every row with a sequence up to `newest` was passed on. */
  hasAllUpTo(newest: number): boolean {
    return this.#isEmpty() && this.#isEnd && newest <= this.#reached;
  }

  #isEmpty(): boolean {
    return this.#taken === this.#rows.length;
  }

  #next(): EventRow | undefined {
    if (this.#isEmpty()) return undefined;
    this.#taken += 1;
    return this.#rows[this.#taken - 1];
  }
}
