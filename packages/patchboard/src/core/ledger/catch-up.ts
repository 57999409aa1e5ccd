import type { Store } from '../ports.ts';
import type { EventRow, EventRowFilter } from './event-slice.ts';

/** Rows of one slice: what a reader gets before others have their turn. A fraction of a millisecond. */
const SLICE_ROWS = 32;

/** The old rows for one reader, a slice at a time; what it did not take of a slice comes with the next. */
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

  /** Hands out rows until `take` returns false or the slice is over. */
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

  /** Every row was handed out; none with a sequence up to `newest` is left. */
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
