import { chainHash, GENESIS } from './ledger.ts';
import type { Digest, Store } from './ports.ts';

export type LedgerVerdict =
  | {
      readonly ok: true;
      readonly rows: number;
      readonly head: { readonly seq: number; readonly hash: string };
    }
  | { readonly ok: false; readonly rows: number; readonly seq: number; readonly problem: string };

const PAGE = 1000;

/** Reads the whole chain and says where the first link breaks. Needs the store's own head to notice a cut-off end. */
export async function verifyLedger(
  store: Pick<Store, 'ledgerHead' | 'readLedger'>,
  digest: Digest,
): Promise<LedgerVerdict> {
  const head = await store.ledgerHead();
  let previous = GENESIS;
  let seq = 0;
  while (seq < head.seq) {
    const rows = await store.readLedger({}, seq, PAGE);
    if (rows.length === 0) break;
    for (const { row } of rows) {
      if (row.seq > head.seq) break; // written since
      if (row.seq !== seq + 1) return broken(seq, seq + 1, 'a row is missing');
      if (row.hash !== chainHash(digest, previous, row.seq, row))
        return broken(seq, row.seq, 'the row was changed');
      previous = row.hash;
      seq = row.seq;
    }
  }
  if (seq !== head.seq) return broken(seq, seq + 1, `the end is cut off: the head is row ${head.seq}`);
  if (previous !== (head.seq === 0 ? GENESIS : head.hash))
    return broken(seq, seq, 'the head is not that of the last row');
  return { ok: true, rows: seq, head };
}

function broken(rows: number, seq: number, problem: string): LedgerVerdict {
  return { ok: false, rows, seq, problem };
}
