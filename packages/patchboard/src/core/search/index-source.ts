import type { LedgerRow } from '../ledger/ledger.ts';
import type { Store } from '../ports.ts';
import type { IndexBatch, IndexedCall, IndexedRefusal, IndexPosition } from './call-search.ts';
import { endedBy, endsCall, indexedRefusal, INDEXED_KINDS } from './indexed-rows.ts';

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

/** Rows read at once. */
const PAGE_ROWS = 100;
/** Calls and refusals in one batch. */
const BATCH_ITEMS = 400;
/** Pages of one batch: the calls of old rows may all be removed. */
const BATCH_PAGES = 40;

/** The parts of a store that the index is read from. */
type IndexedStore = Pick<Store, 'readLedger' | 'ledgerHead' | 'findCall'>;

/** Reads from the ledger of any store. */
export class LedgerSource implements IndexSource {
  readonly #store: IndexedStore;

  constructor(store: IndexedStore) {
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
      const filter = { kinds: INDEXED_KINDS };
      const rows = await this.#store.readLedger(filter, to.seq, PAGE_ROWS, { withCalls: false });
      for (const { row } of rows) {
        const call = await this.#endedBy(row);
        const refusal = indexedRefusal(row);
        if (call !== null) calls.push(call);
        if (refusal !== null) refusals.push(refusal);
        to = { seq: row.seq, hash: row.hash };
      }
      if (rows.length === PAGE_ROWS) continue;
      // Every row up to the head was read, also those of other kinds.
      if (to.seq < head) to = { seq: head, hash: (await this.hashAt(head)) ?? '' };
      break;
    }
    return { from: after, to, calls, refusals, hasMore: to.seq < head };
  }

  /** Reads one call after the other: only a part of each is kept, and together their results may be larger than the memory. */
  async #endedBy(row: LedgerRow): Promise<IndexedCall | null> {
    if (row.callId === null || !endsCall(row)) return null;
    return endedBy({ row, call: (await this.#store.findCall(row.callId)) ?? null });
  }
}
