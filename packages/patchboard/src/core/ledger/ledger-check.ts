import { CallCheck } from './call-check.ts';
import { OrderedChainsCheck, SingleChainCheck, type ChainCheck } from './chain-check.ts';
import { GENESIS } from './ledger.ts';
import type { Digest, LedgerHead, Store } from '../ports.ts';

export type LedgerVerdict =
  | {
      readonly ok: true;
      readonly rows: number;
      readonly head: LedgerHead;
    }
  | { readonly ok: false; readonly rows: number; readonly seq: number; readonly problem: string };

/** The parts of the store that a check reads. */
export type CheckedStore = Pick<Store, 'ledgerHead' | 'readLedger' | 'readLedgerOrder' | 'findCall'>;

/** Rows per page. Small, because the calls that end in a page are read and hashed without yielding. */
const PAGE = 100;

/** The predecessor of the first row. */
const BEGINNING = { seq: 0, hash: GENESIS };

/**
 * Verifies the whole hash chain (of each writer, and the order over them, if there are several) and the stored calls. Returns the first row whose link is broken, or that differs from
 * the stored call. Compares with the store's head to detect a truncated end. If a bounded store drops rows meanwhile,
 * continues with the oldest row left.
 */
export async function verifyLedger(store: CheckedStore, digest: Digest): Promise<LedgerVerdict> {
  const calls = new CallCheck(store, digest);
  const head = await store.ledgerHead();
  const { start: from = BEGINNING } = head;
  let { seq } = from;
  let chain = chainCheck(store, digest, from.hash);
  let checked = 0;
  while (seq < head.seq) {
    const rows = await store.readLedger({}, seq, PAGE, { withCalls: false });
    if (rows.length === 0) break;
    for (const { row } of rows) {
      if (row.seq !== seq + 1) {
        const { start = BEGINNING } = await store.ledgerHead();
        if (start.seq <= seq) return broken(checked, seq + 1, 'a row is missing');
        ({ seq } = start); // dropped since
        chain = chainCheck(store, digest, start.hash);
        break;
      }
      if (row.seq > head.seq) break; // written since
      const problem = (await chain.take(row)) ?? (await calls.take(row));
      if (problem !== null) return broken(checked, row.seq, problem);
      seq = row.seq;
      checked += 1;
    }
  }
  if (seq < head.seq) return broken(checked, seq + 1, `the end is cut off: the head is row ${head.seq}`);
  if (seq === head.seq && chain.headHash !== (head.seq === 0 ? GENESIS : head.hash))
    return broken(checked, seq, 'the head is not that of the last row');
  const open = await calls.takeOpen(head.seq);
  return open === null ? { ok: true, rows: checked, head } : broken(checked, open.seq, open.problem);
}

function chainCheck(store: CheckedStore, digest: Digest, previous: string): ChainCheck {
  if (store.readLedgerOrder === undefined) return new SingleChainCheck(digest, previous);
  return new OrderedChainsCheck(digest, store.readLedgerOrder.bind(store));
}

/** Runs one verification at a time: callers during a run share its verdict. */
export class LedgerVerifier {
  readonly #store: CheckedStore;
  readonly #digest: Digest;
  #running: Promise<LedgerVerdict> | null = null;

  constructor(store: CheckedStore, digest: Digest) {
    this.#store = store;
    this.#digest = digest;
  }

  async verify(): Promise<LedgerVerdict> {
    this.#running ??= verifyLedger(this.#store, this.#digest).finally(() => {
      this.#running = null;
    });
    return await this.#running;
  }
}

function broken(rows: number, seq: number, problem: string): LedgerVerdict {
  return { ok: false, rows, seq, problem };
}
