import { CallCheck } from './call-check.ts';
import { OrderedChainsCheck, SingleChainCheck, type ChainCheck } from './chain-check.ts';
import { BEGINNING, startAtCheckpoint } from './checkpoint-check.ts';
import { checkpointText, type LedgerCheckpoint } from './checkpoint.ts';
import { GENESIS } from './ledger.ts';
import type { Digest, LedgerHead, Store } from '../ports.ts';

export type LedgerVerdict =
  | {
      readonly ok: true;
      /** Verified rows; those after the checkpoint, if the check started from one. */
      readonly rows: number;
      readonly head: LedgerHead;
      /** The head, from which a later check can start. */
      readonly checkpoint: LedgerCheckpoint;
    }
  | { readonly ok: false; readonly rows: number; readonly seq: number; readonly problem: string };

/** The parts of the store that a check reads. */
export type CheckedStore = Pick<
  Store,
  'ledgerHead' | 'readLedger' | 'readLedgerOrder' | 'readWriterHeads' | 'findCall'
>;

/** Rows per page. Small, because the calls that end in a page are read and hashed without yielding. */
const PAGE = 100;

/**
 * Verifies the whole hash chain (of each writer, and the order over them, if there are several) and the stored calls. Returns the first row whose link is broken, or that differs from
 * the stored call. Compares with the store's head to detect a truncated end. If a bounded store drops rows meanwhile,
 * continues with the oldest row left.
 *
 * `from`: verifies that row and those after it only, and the stored calls that they record. The arguments of a call whose first row is before it are not compared.
 */
export async function verifyLedger(
  store: CheckedStore,
  digest: Digest,
  from: LedgerCheckpoint | null = null,
): Promise<LedgerVerdict> {
  const calls = new CallCheck(store, digest);
  const head = await store.ledgerHead();
  const begin =
    from === null ? oldestRow(store, digest, head) : await startAtCheckpoint(store, digest, from, head);
  if ('problem' in begin) return broken(0, begin.seq, begin.problem);
  let { seq, chain } = begin;
  let checked = 0;
  while (seq < head.seq) {
    const rows = await store.readLedger({}, seq, PAGE, { withCalls: false });
    if (rows.length === 0) break;
    for (const { row } of rows) {
      if (row.seq !== seq + 1) {
        const oldest = oldestRow(store, digest, await store.ledgerHead());
        if (oldest.seq <= seq) return broken(checked, seq + 1, 'a row is missing');
        ({ seq, chain } = oldest); // dropped since
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
  const hash = head.seq === 0 ? GENESIS : head.hash;
  if (seq === head.seq && chain.headHash !== hash)
    return broken(checked, seq, 'the head is not that of the last row');
  const open = await calls.takeOpen(head.seq);
  if (open !== null) return broken(checked, open.seq, open.problem);
  const checkpoint = { seq: head.seq, hash, writers: chain.writersHash };
  return { ok: true, rows: checked, head, checkpoint };
}

/** The chain before the oldest row of the store. */
function oldestRow(
  store: CheckedStore,
  digest: Digest,
  { start = BEGINNING }: LedgerHead,
): { readonly seq: number; readonly chain: ChainCheck } {
  return { seq: start.seq, chain: chainCheck(store, digest, start.hash) };
}

function chainCheck(store: CheckedStore, digest: Digest, previous: string): ChainCheck {
  if (store.readLedgerOrder === undefined) return new SingleChainCheck(digest, previous);
  return new OrderedChainsCheck(digest, store.readLedgerOrder.bind(store));
}

/** Runs one verification at a time: concurrent callers with the same checkpoint share a verdict, the others wait. */
export class LedgerVerifier {
  readonly #store: CheckedStore;
  readonly #digest: Digest;
  /** Running and waiting verifications, by checkpoint. */
  readonly #verdicts: Map<string, Promise<LedgerVerdict>> = new Map();
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: CheckedStore, digest: Digest) {
    this.#store = store;
    this.#digest = digest;
  }

  async verify(from: LedgerCheckpoint | null = null): Promise<LedgerVerdict> {
    const key = from === null ? '' : checkpointText(from);
    const shared = this.#verdicts.get(key);
    if (shared !== undefined) return await shared;
    const verdict = this.#last
      .then(() => verifyLedger(this.#store, this.#digest, from))
      .finally(() => this.#verdicts.delete(key));
    this.#verdicts.set(key, verdict);
    this.#last = verdict.catch(() => null);
    return await verdict;
  }
}

function broken(rows: number, seq: number, problem: string): LedgerVerdict {
  return { ok: false, rows, seq, problem };
}
