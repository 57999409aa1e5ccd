import { GENESIS } from '../../core/ledger/ledger.ts';
import { byteaArray, int4Array, int8Array, textArray } from '../../postgres/arrays.ts';
import type { Connection, Statement, Transaction } from '../../postgres/connection.ts';
import type { Tables } from '../postgres/schema.ts';
import { addToTotals, totalsValues, type EndedCount } from '../postgres/totals.ts';
import type { CopiedRow, CopiedTable } from './copied-tables.ts';
import { COPY_WRITER, type CopiedSpan } from './ledger-copy.ts';
import type { SourceLedgerRow } from './sqlite-source.ts';

export interface RowReader<Row> {
  take(row: Row): void;
}

export interface TargetLedgerRow extends SourceLedgerRow {
  readonly period: number;
  readonly writer: number;
}

export interface TargetSpan {
  readonly seq_from: number;
  readonly seq_to: number;
  readonly writer: number;
  readonly period: number;
  readonly first: number;
  readonly last: number;
  readonly hash: string;
}

const FETCHED_ROWS = 500;

/** The connection's own limits are for short statements. */
const LONG_READ = `set local statement_timeout = '30min'; set local idle_in_transaction_session_timeout = '5min'`;

/** Writes copied rows to an empty schema, and reads them again. Every write may be repeated. */
export class PostgresTarget {
  readonly #connection: Connection;
  readonly #tables: Tables;
  #cursors = 0;

  constructor(connection: Connection, tables: Tables) {
    this.#connection = connection;
    this.#tables = tables;
  }

  async insert(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void> {
    const values = table.columns.map(([name, type]) => {
      const column = rows.map((row) => row[name] ?? null);
      return type === 'text' ? textArray(column as string[]) : int8Array(column as number[]);
    });
    await this.#connection.query(this.#insertOf(table), values);
  }

  async insertLedger(rows: readonly SourceLedgerRow[], periods: readonly number[]): Promise<void> {
    const text = `insert into ${this.#tables.ledger}
        (period, writer, no, at, tenant, kind, call_id, trace_id, body, hash)
      select x.period, ${COPY_WRITER}, x.no, x.at, x.tenant, x.kind, x.call_id, x.trace_id, x.body, x.hash
      from unnest($1::int4[], $2::int8[], $3::int8[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::bytea[]) as x (period, no, at, tenant, kind, call_id, trace_id, body, hash) on conflict do nothing`;
    await this.#connection.query({ name: 'copy_ledger', text }, [
      int4Array(periods),
      int8Array(rows.map(({ seq }) => seq)),
      int8Array(rows.map(({ at }) => at)),
      textArray(rows.map(({ tenant }) => tenant)),
      textArray(rows.map(({ kind }) => kind)),
      textArray(rows.map(({ call_id: id }) => id)),
      textArray(rows.map(({ trace_id: id }) => id)),
      textArray(rows.map(({ body }) => body)),
      byteaArray(rows.map(({ hash }) => Buffer.from(hash, 'hex'))),
    ]);
  }

  /** Writes the order of the ledger, its head, the counts of ended calls, and the writer that continues the chain. */
  async finish(spans: readonly CopiedSpan[], ended: readonly EndedCount[]): Promise<void> {
    await this.#connection.transaction(async (transaction) => {
      const t = this.#tables;
      await transaction.run(
        [t.ledger_order, t.totals, t.segments, t.writers].map((table) => `delete from ${table}`).join('; '),
      );
      await this.#writeOrder(transaction, spans);
      await transaction.query({ name: 'copy_totals', text: addToTotals(t, 1) }, totalsValues(ended));
      const last = spans.at(-1);
      // A new writer has the segment 0; that of the copied rows is the next one.
      const no = last === undefined ? 0 : 1;
      await transaction.query(
        {
          name: 'copy_writer',
          text: `insert into ${t.writers} (writer, state, epoch, beat, sequenced_no) values (${COPY_WRITER}, 'free', 0, 0, $1)`,
        },
        [no],
      );
      await transaction.query(
        {
          name: 'copy_segment',
          text: `insert into ${t.segments} (writer, no, epoch, period, first, last, hash)
            values (${COPY_WRITER}, $1, 0, $2, 1, $3, decode($4, 'hex'))`,
        },
        [no, last?.period ?? 0, last?.to ?? 0, last?.rowHash ?? GENESIS],
      );
    });
  }

  /** Passes every row of the table, in the order of its definition, to what `start` returns. */
  async read<Reader extends RowReader<CopiedRow>>(table: CopiedTable, start: () => Reader): Promise<Reader> {
    return await this.#scan(table.target(this.#tables), start);
  }

  async readLedger<Reader extends RowReader<TargetLedgerRow>>(start: () => Reader): Promise<Reader> {
    const text = `select period, writer, no as seq, at, tenant, kind, call_id, trace_id, body, encode(hash, 'hex') as hash
      from ${this.#tables.ledger} order by period, writer, no`;
    return await this.#scan(text, start);
  }

  async readOrder<Reader extends RowReader<TargetSpan>>(start: () => Reader): Promise<Reader> {
    const text = `select seq_from, seq_to, writer, period, first, last, encode(hash, 'hex') as hash
      from ${this.#tables.ledger_order} order by seq_to`;
    return await this.#scan(text, start);
  }

  /** Calls of each state, by its code. */
  async states(): Promise<Map<number, number>> {
    const { open_calls: open, ended_calls: ended } = this.#tables;
    const text = `select state, count(*) as calls
      from (select state from ${open} union all select state from ${ended}) s group by state`;
    const { found } = await this.#scan(text, () => {
      const states = new Map<number, number>();
      return {
        found: states,
        take: ({ state, calls }: { state: number; calls: number }) => void states.set(state, calls),
      };
    });
    return found;
  }

  /** Updates the statistics of the planner, which knows nothing of the new rows. */
  async analyze(): Promise<void> {
    await this.#connection.transaction(async (transaction) => {
      await transaction.run(LONG_READ);
      for (const table of Object.values(this.#tables)) await transaction.run(`analyze ${table}`);
    });
  }

  #insertOf(table: CopiedTable): Statement {
    const names = table.columns.map(([name]) => name).join(', ');
    const arrays = table.columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
    const text = `with x as (select * from unnest(${arrays}) with ordinality as t (${names}, n)) ${table.insert(this.#tables)}`;
    return { name: `copy_${table.name}`, text };
  }

  async #writeOrder(transaction: Transaction, spans: readonly CopiedSpan[]): Promise<void> {
    const t = this.#tables;
    await transaction.query(
      {
        name: 'copy_order',
        text: `insert into ${t.ledger_order} (seq_from, seq_to, writer, period, first, last, hash)
          select x.seq_from, x.seq_to, ${COPY_WRITER}, x.period, x.seq_from, x.seq_to, x.hash
          from unnest($1::int8[], $2::int8[], $3::int4[], $4::bytea[]) as x (seq_from, seq_to, period, hash)`,
      },
      [
        int8Array(spans.map(({ from }) => from)),
        int8Array(spans.map(({ to }) => to)),
        int4Array(spans.map(({ period }) => period)),
        byteaArray(spans.map(({ hash }) => Buffer.from(hash, 'hex'))),
      ],
    );
    const last = spans.at(-1);
    await transaction.query(
      { name: 'copy_head', text: `update ${t.ledger_head} set seq = $1, hash = decode($2, 'hex')` },
      [last?.to ?? 0, last?.hash ?? GENESIS],
    );
  }

  /** Reads with a cursor, in constant memory. After a lost connection it begins again, with a new reader. */
  async #scan<Row extends object, Reader extends RowReader<Row>>(
    text: string,
    start: () => Reader,
  ): Promise<Reader> {
    this.#cursors += 1;
    const cursor = `copied_${this.#cursors}`;
    const fetch = { name: `fetch_${cursor}`, text: `fetch ${FETCHED_ROWS} from ${cursor}` };
    return await this.#connection.transaction(async (transaction) => {
      const reader = start();
      await transaction.run(`${LONG_READ}; declare ${cursor} no scroll cursor for ${text}`);
      for (;;) {
        const { rows } = await transaction.query<Row>(fetch);
        for (const row of rows) reader.take(row);
        if (rows.length < FETCHED_ROWS) return reader;
      }
    });
  }
}
