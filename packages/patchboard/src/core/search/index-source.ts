import type { Store } from '../ports.ts';
import type { IndexBatch, IndexedCall, IndexedRefusal, IndexPosition } from './call-search.ts';
import { endedBy, indexedRefusal, INDEXED_KINDS } from './indexed-rows.ts';

/** Reads the committed ledger rows that the index of calls is made from. */
export interface IndexSource {
  /** Sequence number of the newest committed row. */
  head(): Promise<number>;
  /** Returns null if there is no such row. */
  hashAt(seq: number): Promise<string | null>;
  /** Reads a bounded number of rows after `after`. Returns null if there are none. */
  read(after: number): Promise<IndexBatch | null>;
  /** Whether it will soon drop rows that it keeps in memory; they must then be read from the ledger, which costs more. */
  isNearlyFull?(): boolean;
}

/** Rows read at once. Calls may be large, and only their indexed part is kept. */
const PAGE_ROWS = 100;
/** Calls and refusals in one batch. */
const BATCH_ITEMS = 400;
/** Pages of one batch: the calls of old rows may all be removed. */
const BATCH_PAGES = 40;

/** Reads from the ledger of any store. */
export class LedgerSource implements IndexSource {
  readonly #store: Pick<Store, 'readLedger' | 'ledgerHead'>;

  constructor(store: Pick<Store, 'readLedger' | 'ledgerHead'>) {
    this.#store = store;
  }

  async head(): Promise<number> {
    return (await this.#store.ledgerHead()).seq;
  }

  async hashAt(seq: number): Promise<string | null> {
    const [found] = await this.#store.readLedger({}, seq - 1, 1, { withCalls: false });
    return found?.row.seq === seq ? found.row.hash : null;
  }

  async read(after: number): Promise<IndexBatch | null> {
    const head = await this.head();
    if (head <= after) return null;
    const calls: IndexedCall[] = [];
    const refusals: IndexedRefusal[] = [];
    let to: IndexPosition = { seq: after, hash: '' };
    for (let page = 0; page < BATCH_PAGES && calls.length + refusals.length < BATCH_ITEMS; page += 1) {
      const rows = await this.#store.readLedger({ kinds: INDEXED_KINDS }, to.seq, PAGE_ROWS);
      for (const committed of rows) {
        const call = endedBy(committed);
        const refusal = indexedRefusal(committed.row);
        if (call !== null) calls.push(call);
        if (refusal !== null) refusals.push(refusal);
        to = { seq: committed.row.seq, hash: committed.row.hash };
      }
      if (rows.length === PAGE_ROWS) continue;
      // Every row up to the head was read, also those of other kinds.
      if (to.seq < head) to = { seq: head, hash: (await this.hashAt(head)) ?? '' };
      break;
    }
    return { from: after, to, calls, refusals, hasMore: to.seq < head };
  }
}
