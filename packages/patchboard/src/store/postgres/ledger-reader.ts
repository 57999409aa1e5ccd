import type { WriterHead } from '../../core/ledger/checkpoint.ts';
import type { LedgerSpan } from '../../core/ledger/ledger-order.ts';
import type { CommittedRow, LedgerFilter, LedgerHead, LedgerReadOptions } from '../../core/ports.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import type { CallReader } from './call-reader.ts';
import { rowsByKey, rowsInWindow, toLedgerRow, type SequencedRow } from './ledger-rows.ts';
import type { Tables } from './schema.ts';
import type { Sequencer } from './sequencer.ts';

export interface LedgerReaderParts {
  readonly reader: Queryable;
  readonly tables: Tables;
  readonly sequencer: Pick<Sequencer, 'sequence'>;
  readonly calls: CallReader;
}

const WITH_CALLS: LedgerReadOptions = { withCalls: true };

/** Sequence numbers of the first window if the filter may match every row, and of the largest one. */
const SMALLEST_WINDOW = 64;
const LARGEST_WINDOW = 8192;
/** Windows grow by this factor while they contain too few matches. */
const GROWTH = 4;
/** A trace with more rows is read in windows: a client may send the same trace id with every call. */
const ROWS_OF_TRACE = 4096;

const MATCHES = `
  ($3::text is null or r.call_id = $3) and ($4::text is null or r.trace_id = $4)
  and ($5::text is null or r.tenant = $5) and ($6::text[] is null or r.kind = any($6))
  and ($7::int8 is null or r.at >= $7) and ($8::int8 is null or r.at < $8)`;

/** The sequence numbers above `after`, up to `end`. */
interface Range {
  readonly after: number;
  readonly end: number;
}

/** Reads the ledger in order of sequence. No statement scans more than a window. */
export class LedgerReader {
  readonly #parts: LedgerReaderParts;
  readonly #inWindow: Statement;
  readonly #ofCall: Statement;
  readonly #ofTrace: Statement;
  readonly #traceSize: Statement;
  readonly #order: Statement;
  readonly #writerHeads: Statement;

  constructor(parts: LedgerReaderParts) {
    this.#parts = parts;
    const { tables } = parts;
    const select = (from: string): string =>
      `select r.seq, r.writer, r.no, r.at, r.tenant, r.kind, r.call_id, r.trace_id, r.body, r.hash
       from ${from} where ${MATCHES} order by r.seq limit $9`;
    this.#inWindow = { name: 'ledger_window', text: select(rowsInWindow(tables)) };
    this.#ofCall = { name: 'ledger_of_call', text: select(rowsByKey(tables, 'call_id', '$3')) };
    this.#ofTrace = { name: 'ledger_of_trace', text: select(rowsByKey(tables, 'trace_id', '$4')) };
    this.#traceSize = {
      name: 'ledger_trace_size',
      text: `select count(*) as rows
        from (select 1 from ${tables.ledger} where trace_id = $1 limit ${ROWS_OF_TRACE + 1}) r`,
    };
    this.#order = {
      name: 'ledger_spans',
      text: `select seq_from as "from", seq_to as "to", writer, first, last, encode(hash, 'hex') as hash
        from ${tables.ledger_order} where seq_to > $1 order by seq_to limit $2`,
    };
    this.#writerHeads = {
      name: 'ledger_writer_heads',
      // Reads backwards from each writer's newest span: what lies after $1 is verified next anyway.
      text: `select o.writer, r.no, encode(r.hash, 'hex') as hash from ${tables.writers} w
        cross join lateral (
          select writer, period, least(last, first + ($1::int8 - seq_from)) as no from ${tables.ledger_order}
          where writer = w.writer and seq_from <= $1::int8 order by last desc limit 1) o
        cross join lateral (
          select no, hash from ${tables.ledger} where period = o.period and writer = o.writer and no = o.no offset 0) r
        order by o.writer`,
    };
  }

  async head(): Promise<LedgerHead> {
    const { seq, orderHash } = await this.#parts.sequencer.sequence();
    return { seq, hash: orderHash };
  }

  async read(
    filter: LedgerFilter,
    after: number,
    limit: number,
    { withCalls }: LedgerReadOptions = WITH_CALLS,
  ): Promise<readonly CommittedRow[]> {
    const { seq: end } = await this.#parts.sequencer.sequence();
    if (filter.kinds?.length === 0) return [];
    const indexed = await this.#indexedFor(filter);
    const found =
      indexed === null
        ? await this.#scan(filter, { after, end }, limit)
        : await this.#rows(indexed, filter, { after, end }, limit);
    const rows = found.map(toLedgerRow);
    const ids = withCalls ? rows.flatMap(({ callId }) => callId ?? []) : [];
    const calls = await this.#parts.calls.findMany(ids);
    return rows.map((row) => ({ row, call: calls.get(row.callId ?? '') ?? null }));
  }

  /** Returns the spans that end after `after`, oldest first. */
  async order(after: number, limit: number): Promise<readonly LedgerSpan[]> {
    await this.#parts.sequencer.sequence();
    return (await this.#parts.reader.query<LedgerSpan>(this.#order, [after, limit])).rows;
  }

  /** Returns the newest row of each writer up to sequence `seq`. */
  async writerHeads(seq: number): Promise<readonly WriterHead[]> {
    return (await this.#parts.reader.query<WriterHead>(this.#writerHeads, [seq])).rows;
  }

  /** Returns the statement that finds all matches through an index; null if there is none. */
  async #indexedFor({ callId, traceId }: LedgerFilter): Promise<Statement | null> {
    if (callId !== undefined) return this.#ofCall;
    if (traceId === undefined) return null;
    const { rows } = await this.#parts.reader.query<{ rows: number }>(this.#traceSize, [traceId]);
    return (rows[0]?.rows ?? 0) > ROWS_OF_TRACE ? null : this.#ofTrace;
  }

  async #scan(filter: LedgerFilter, { after, end }: Range, limit: number): Promise<SequencedRow[]> {
    const found: SequencedRow[] = [];
    let size = SMALLEST_WINDOW;
    for (let position = after; found.length < limit && position < end;) {
      const wanted = limit - found.length;
      size = Math.min(Math.max(size, wanted), LARGEST_WINDOW);
      const window = { after: position, end: Math.min(position + size, end) };
      found.push(...(await this.#rows(this.#inWindow, filter, window, wanted)));
      position = window.end;
      size *= GROWTH;
    }
    return found;
  }

  async #rows(
    statement: Statement,
    filter: LedgerFilter,
    { after, end }: Range,
    limit: number,
  ): Promise<readonly SequencedRow[]> {
    const { callId, traceId, tenant, kinds, from, to } = filter;
    const { rows } = await this.#parts.reader.query<SequencedRow>(statement, [
      after,
      end,
      callId ?? null,
      traceId ?? null,
      tenant ?? null,
      kinds === undefined ? null : textArray(kinds),
      from ?? null,
      to ?? null,
      limit,
    ]);
    return rows;
  }
}
