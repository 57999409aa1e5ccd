import type { Digest, LedgerHead, Store } from '../ports.ts';
import { OrderedChainsCheck, SingleChainCheck, type ChainCheck } from './chain-check.ts';
import type { LedgerCheckpoint } from './checkpoint.ts';
import { GENESIS, type LedgerRow } from './ledger.ts';

/** The parts of the store that are read to start at a checkpoint. */
type CheckpointedStore = Pick<Store, 'ledgerHead' | 'readLedger' | 'readLedgerOrder' | 'readWriterHeads'>;

/** The chain up to a row, ready for the next one; or why the ledger does not contain the checkpoint. */
type ChainStart =
  { readonly seq: number; readonly chain: ChainCheck } | { readonly seq: number; readonly problem: string };

/** The predecessor of the first row. */
export const BEGINNING: NonNullable<LedgerHead['start']> = { seq: 0, hash: GENESIS };

const ADVICE =
  'This row or one before it was changed, or the checkpoint belongs to another store. Compare the checkpoint with the copy ' +
  'that you keep, and verify without it to find the first broken row; if there is none, the ledger was rewritten';

/** Verifies the row at the checkpoint, and that its hash is that of the checkpoint. Reads no row before its predecessor. */
export async function startAtCheckpoint(
  store: CheckpointedStore,
  digest: Digest,
  from: LedgerCheckpoint,
  head: LedgerHead,
): Promise<ChainStart> {
  const { seq } = from;
  const problem = kindProblem(store, from);
  if (problem !== null) return { seq, problem };
  if (seq > head.seq)
    return {
      seq: head.seq + 1,
      problem: `the end is cut off: the checkpoint is row ${seq}, but the head is row ${head.seq}`,
    };
  const start =
    from.writers === null
      ? await startOfSingle(store, digest, from)
      : await startOfOrdered(store, digest, from);
  return typeof start === 'string' ? { seq, problem: start } : { seq, chain: start };
}

function kindProblem(store: CheckpointedStore, { writers }: LedgerCheckpoint): string | null {
  if ((store.readWriterHeads === undefined) === (writers === null)) return null;
  return writers === null
    ? 'this ledger may have several writers, and a checkpoint without their hash, such as the head of an export, cannot prove ' +
        'their chains: use a checkpoint <seq>:<hash>:<writers> that a verification of this store printed, or verify without one'
    : 'this ledger is one chain, but the checkpoint has a hash of several writers, so it belongs to another store: use a ' +
        'checkpoint that a verification of this store printed, or verify without one';
}

/** Returns the problem as a string. */
async function startOfSingle(
  store: CheckpointedStore,
  digest: Digest,
  { seq, hash }: LedgerCheckpoint,
): Promise<ChainCheck | string> {
  const rows = await rowsAfter(store, seq - 2, 2);
  const row = rows.find((one) => one.seq === seq);
  const { start = BEGINNING } = await store.ledgerHead();
  const previous = [...rows, start].find((one) => one.seq === seq - 1);
  if (row === undefined && start.seq === seq)
    return start.hash === hash ? new SingleChainCheck(digest, hash) : mismatch(hash, start.hash);
  if (start.seq >= seq)
    return `the row is no longer kept: the store has dropped the rows up to ${start.seq}; verify without a checkpoint`;
  if (row === undefined) return 'the row is missing';
  if (row.hash !== hash) return mismatch(hash, row.hash);
  if (previous === undefined) return 'the row before it is missing';
  const chain = new SingleChainCheck(digest, previous.hash);
  return chain.take(row) ?? chain;
}

/** Returns the problem as a string. */
async function startOfOrdered(
  store: CheckpointedStore,
  digest: Digest,
  { seq, hash, writers }: LedgerCheckpoint,
): Promise<ChainCheck | string> {
  const readOrder = async (after: number, limit: number): ReturnType<NonNullable<Store['readLedgerOrder']>> =>
    (await store.readLedgerOrder?.(after, limit)) ?? [];
  const [span] = seq === 0 ? [] : await readOrder(seq - 1, 1);
  const [before] = (span?.from ?? 1) === 1 ? [] : await readOrder((span?.from ?? 0) - 2, 1);
  const found = seq === 0 ? GENESIS : span?.to === seq ? span.hash : null;
  if (found === null) return `the order of the writers has no entry that ends with this row. ${ADVICE}`;
  if (found !== hash) return mismatch(hash, found);
  const heads = seq === 0 ? [] : ((await store.readWriterHeads?.(seq - 1)) ?? []);
  const chain = new OrderedChainsCheck(digest, readOrder, {
    previous: before?.hash ?? GENESIS,
    heads,
    span: span ?? null,
  });
  if (seq > 0) {
    const [row] = await rowsAfter(store, seq - 1, 1);
    if (row?.seq !== seq) return 'the row is missing';
    const problem = await chain.take(row);
    if (problem !== null) return problem;
  }
  if (chain.writersHash === writers) return chain;
  return mismatch(writers ?? '', chain.writersHash, 'the last rows of the writers');
}

async function rowsAfter(
  store: CheckpointedStore,
  after: number,
  limit: number,
): Promise<readonly LedgerRow[]> {
  const rows = await store.readLedger({}, Math.max(after, 0), limit, { withCalls: false });
  return rows.map(({ row }) => row);
}

function mismatch(expected: string, found: string, what = 'the row'): string {
  return `the checkpoint expects the hash ${expected} of ${what}, found ${found}. ${ADVICE}`;
}
