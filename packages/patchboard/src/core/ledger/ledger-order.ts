import type { Digest } from '../ports.ts';

/**
 * Consecutive ledger rows of one writer: the rows `from` to `to` of the ledger are the rows `first` to `last` of the
 * writer's chain. A span never changes once it is stored.
 */
export interface LedgerSpan {
  /** Sequence numbers, both inclusive. */
  readonly from: number;
  readonly to: number;
  readonly writer: number;
  /** Numbers in the writer's chain, both inclusive. */
  readonly first: number;
  readonly last: number;
  /** See `orderHash`. */
  readonly hash: string;
}

/**
 * The hash of a span covers the span, the hash of its last row, and the hash of the span before it (`GENESIS` for the
 * first). So the hash of the newest span covers all rows and their order.
 */
export function orderHash(
  digest: Digest,
  previous: string,
  { from, to, writer, first, last }: Omit<LedgerSpan, 'hash'>,
  writerHash: string,
): string {
  return digest.sha256(`${previous}\n${from}\n${to}\n${writer}\n${first}\n${last}\n${writerHash}`);
}
