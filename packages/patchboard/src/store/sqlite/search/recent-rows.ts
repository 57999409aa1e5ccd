import type {
  IndexBatch,
  IndexedCall,
  IndexedRefusal,
  IndexPosition,
} from '../../../core/search/call-search.ts';
import type { IndexSource } from '../../../core/search/index-source.ts';
import { endedBy, indexedRefusal } from '../../../core/search/indexed-rows.ts';
import type { CommittedRow } from '../../../core/ports.ts';

interface RecentRow {
  readonly position: IndexPosition;
  readonly call: IndexedCall | null;
  readonly refusal: IndexedRefusal | null;
}

/** Rows and characters of arguments that wait in memory to be indexed. */
const MAX_ROWS = 20_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Part of these limits that makes it nearly full. */
const NEARLY = 0.5;
/** Calls and refusals in one batch. A large one costs less per call, but the event loop must copy it at once. */
const BATCH_ITEMS = 2000;

/**
 * Keeps what the newest commits add to the index, so that the rows need not be read again. Rows that were committed
 * earlier, or did not fit, are read from the ledger.
 */
export class RecentRows implements IndexSource {
  readonly #ledger: IndexSource;
  /** Null until the index is first read. */
  #newest: IndexPosition | null = null;
  /** Everything after this row is in `#rows`. */
  #from = 0;
  #rows: RecentRow[] = [];
  #characters = 0;

  constructor(ledger: IndexSource) {
    this.#ledger = ledger;
  }

  /** Must be called with durable rows, in order of sequence. */
  committed(rows: readonly CommittedRow[]): void {
    if (this.#newest === null) return;
    for (const committed of rows) {
      const { seq, hash } = committed.row;
      this.#newest = { seq, hash };
      const call = endedBy(committed);
      const refusal = indexedRefusal(committed.row);
      if (call === null && refusal === null) continue;
      this.#rows.push({ position: this.#newest, call, refusal });
      this.#characters += call?.argsJson.length ?? 0;
    }
    if (this.#rows.length > MAX_ROWS || this.#characters > MAX_CHARACTERS) this.#start(this.#newest);
  }

  async head(): Promise<number> {
    return await this.#ledger.head();
  }

  async hashAt(seq: number): Promise<string | null> {
    return await this.#ledger.hashAt(seq);
  }

  async read(after: number): Promise<IndexBatch | null> {
    if (this.#newest === null) {
      // Before the head is read: rows that are committed meanwhile are kept.
      this.#newest = { seq: 0, hash: '' };
      const head = await this.#ledger.head();
      this.#from = Math.max(this.#from, head);
    }
    return after < this.#from ? await this.#ledger.read(after) : this.#take(after);
  }

  isNearlyFull(): boolean {
    return this.#rows.length > MAX_ROWS * NEARLY || this.#characters > MAX_CHARACTERS * NEARLY;
  }

  #take(after: number): IndexBatch | null {
    const newest = this.#newest;
    if (newest === null || newest.seq <= after) return null;
    const start = this.#rows.findIndex(({ position }) => position.seq > after);
    this.#drop(start === -1 ? this.#rows.length : start);
    // An index that is made anew begins before the rows that were dropped.
    this.#from = after;
    const taken = this.#rows.slice(0, BATCH_ITEMS);
    const isAll = taken.length === this.#rows.length;
    return {
      from: after,
      to: isAll ? newest : (taken.at(-1)?.position ?? newest),
      calls: taken.flatMap(({ call }) => call ?? []),
      refusals: taken.flatMap(({ refusal }) => refusal ?? []),
      hasMore: !isAll,
    };
  }

  #drop(count: number): void {
    for (const { call } of this.#rows.splice(0, count)) this.#characters -= call?.argsJson.length ?? 0;
  }

  #start({ seq }: IndexPosition): void {
    this.#from = seq;
    this.#rows = [];
    this.#characters = 0;
  }
}
