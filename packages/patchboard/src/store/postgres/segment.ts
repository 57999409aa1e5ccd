import { chainHash, type LedgerDraft } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { byteaArray, int8Array, textArray } from '../../postgres/arrays.ts';
import type { Statement } from '../../postgres/connection.ts';
import { monthOf } from './partitions.ts';
import type { Tables } from './schema.ts';
import type { HeldWriter, SegmentHead } from './writer-slot.ts';

/** The ledger rows of one batch, with their numbers and hashes, and the segment that covers them. */
export interface Segment extends SegmentHead {
  readonly previousHash: string;
  readonly first: number;
  /** JSON of `[tenant, state code, count]` for the calls that ended; null if none did. */
  readonly ended: string | null;
  readonly drafts: readonly LedgerDraft[];
  readonly hashes: readonly string[];
}

/** Numbers the rows after `head`. Nothing changes until the segment is committed: a failed batch leaves no gap. */
export function segmentAfter(
  head: SegmentHead,
  { epoch }: HeldWriter,
  drafts: readonly LedgerDraft[],
  ended: string | null,
  { digest, now }: { readonly digest: Digest; readonly now: number },
): Segment {
  let { last, hash } = head;
  const hashes = drafts.map((draft) => {
    last += 1;
    hash = chainHash(digest, hash, last, draft);
    return hash;
  });
  return {
    no: head.no + 1,
    epoch,
    // Periods never decrease within a writer, also if the clock steps back.
    period: Math.max(head.period, monthOf(now)),
    first: head.last + 1,
    last,
    hash,
    previousHash: head.hash,
    ended,
    drafts,
    hashes,
  };
}

/**
 * Inserts the rows and the segment. Fails if another process inserted this segment, or if the predecessor is missing
 * because the database was restored: its period is then null.
 */
export function segmentStatement({ ledger, segments }: Tables): Statement {
  return {
    name: 'insert_segment',
    text: `with rows as (
        insert into ${ledger} (period, writer, no, at, tenant, kind, call_id, trace_id, body, hash)
        select $10::int, $9::int, * from unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::text[],
          $7::text[], $8::bytea[]))
      insert into ${segments} (writer, no, epoch, period, first, last, hash, ended)
      values ($9::int, $11::int8, $12::int8,
        (select $10::int from ${segments} where writer = $9 and no = $11::int8 - 1 and hash = $16::bytea),
        $13::int8, $14::int8, $15::bytea, $17::text)`,
  };
}

/** The parameters of `segmentStatement`. */
export function segmentValues(segment: Segment, { writer }: HeldWriter): unknown[] {
  const { drafts, hashes, period, no, epoch, first, last, hash, previousHash, ended } = segment;
  return [
    int8Array(drafts.map((_, index) => first + index)),
    int8Array(drafts.map(({ at }) => at)),
    textArray(drafts.map(({ tenant }) => tenant)),
    textArray(drafts.map(({ kind }) => kind)),
    textArray(drafts.map(({ callId }) => callId)),
    textArray(drafts.map(({ traceId }) => traceId)),
    textArray(drafts.map(({ body }) => body)),
    byteaArray(hashes.map((one) => Buffer.from(one, 'hex'))),
    writer,
    period,
    no,
    epoch,
    first,
    last,
    Buffer.from(hash, 'hex'),
    Buffer.from(previousHash, 'hex'),
    ended,
  ];
}

/**
 * Inserts a segment without rows, unless one with its number exists: a transaction that is still running with that number
 * cannot commit afterwards. Waits for the end of one that has inserted it already.
 */
export function voidSegmentStatement({ segments }: Tables): Statement {
  return {
    name: 'void_segment',
    text: `insert into ${segments} (writer, no, epoch, period, first, last, hash, ended)
      select writer, no + 1, $3::int8, period, last + 1, last, hash, '${VOID}' from ${segments}
      where writer = $1 and no = $2::int8 - 1 and hash = $4::bytea
      on conflict do nothing`,
  };
}

/** Finds a ledger row by its place and hash. Rows stay when their segment is pruned. */
export function ledgerRowStatement({ ledger }: Tables): Statement {
  return {
    name: 'ledger_row',
    text: `select 1 as found from ${ledger} where period = $1 and writer = $2 and no = $3 and hash = $4::bytea`,
  };
}

/** In the place of the ended calls: a segment of a batch has either some, or null. */
export const VOID = '[]';
