import type { LedgerKind, LedgerRow } from '../../core/ledger/ledger.ts';
import type { Tables } from './schema.ts';

/** The columns of a ledger row, with its sequence number. */
export interface SequencedRow {
  readonly seq: number;
  readonly writer: number;
  readonly no: number;
  readonly at: number;
  readonly tenant: string;
  readonly kind: LedgerKind;
  readonly call_id: string | null;
  readonly trace_id: string | null;
  readonly body: string;
  readonly hash: Buffer;
}

const SEQ = 'o.seq_from + (r.no - o.first)';

/**
 * SQL of the rows `r` with a sequence number above `$1`, up to `$2`, which must not exceed the newest one. The rows of each
 * span are a range of the primary key of one partition; `offset 0` keeps the planner from joining whole tables instead.
 */
export function rowsInWindow({ ledger, ledger_order: order }: Tables): string {
  return `(select ${SEQ} as seq, r.* from ${order} o cross join lateral (
      select * from ${ledger} r where r.period = o.period and r.writer = o.writer
        and r.no >= o.first + greatest(0, $1::int8 + 1 - o.seq_from)
        and r.no <= least(o.last, o.first + ($2::int8 - o.seq_from)) offset 0) r
    where o.seq_to > $1::int8 and o.seq_to <= (
      select seq_to from ${order} where seq_to >= $2::int8 order by seq_to limit 1)) r`;
}

/** SQL of the rows `r` with a sequence number above `$1`, up to `$2`, whose indexed `column` is the parameter `key`. */
export function rowsByKey(
  { ledger, ledger_order: order }: Tables,
  column: 'call_id' | 'trace_id',
  key: `$${number}`,
): string {
  return `(select ${SEQ} as seq, r.* from (select * from ${ledger} where ${column} = ${key}::text offset 0) r
    cross join lateral (
      select seq_from, first from ${order} where writer = r.writer and last >= r.no order by last limit 1) o
    where o.first <= r.no and ${SEQ} > $1::int8 and ${SEQ} <= $2::int8) r`;
}

export function toLedgerRow(row: SequencedRow): LedgerRow {
  return {
    seq: row.seq,
    at: row.at,
    tenant: row.tenant,
    kind: row.kind,
    callId: row.call_id,
    traceId: row.trace_id,
    body: row.body,
    hash: row.hash.toString('hex'),
    place: { writer: row.writer, no: row.no },
  };
}
