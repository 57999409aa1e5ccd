import { GENESIS } from '../../core/ledger/ledger.ts';
import { orderHash } from '../../core/ledger/ledger-order.ts';
import type { Digest } from '../../core/ports.ts';
import { monthOf } from '../postgres/partitions.ts';
import type { TargetSpan } from './postgres-target.ts';
import type { SourceLedgerRow } from './sqlite-source.ts';

/** Rows of one month, as an entry of the ledger's order. */
export interface CopiedSpan {
  readonly from: number;
  readonly to: number;
  readonly period: number;
  /** The hash of its last row. */
  readonly rowHash: string;
  /** See `orderHash`. */
  readonly hash: string;
}

/** The writer that copied rows belong to. Its numbers are the sequence numbers. */
export const COPY_WRITER = 1;

/** Assigns the rows of one chain, in their order, to months that never decrease. */
export class LedgerMonths {
  readonly #months: { from: number; to: number; period: number; rowHash: string }[] = [];

  /** Returns the month of the row as yyyymm. */
  add({ seq, at, hash }: Pick<SourceLedgerRow, 'seq' | 'at' | 'hash'>): number {
    const last = this.#months.at(-1);
    const period = Math.max(last?.period ?? 0, monthOf(at));
    if (last === undefined || last.period !== period)
      this.#months.push({ from: seq, to: seq, period, rowHash: hash });
    else {
      last.to = seq;
      last.rowHash = hash;
    }
    return period;
  }

  spans(digest: Digest): CopiedSpan[] {
    let hash = GENESIS;
    return this.#months.map((month) => {
      const { from, to } = month;
      hash = orderHash(digest, hash, { from, to, writer: COPY_WRITER, first: from, last: to }, month.rowHash);
      return { ...month, hash };
    });
  }
}

/** Whether the stored order is that of the copied rows. */
export function isSameOrder(found: readonly TargetSpan[], spans: readonly CopiedSpan[]): boolean {
  return (
    found.length === spans.length &&
    spans.every(({ from, to, period, hash }, index) => {
      const span = found[index];
      return (
        span?.seq_from === from &&
        span.seq_to === to &&
        span.writer === COPY_WRITER &&
        span.period === period &&
        span.first === from &&
        span.last === to &&
        span.hash === hash
      );
    })
  );
}
