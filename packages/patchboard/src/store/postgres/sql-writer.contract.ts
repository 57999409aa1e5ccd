import { chainHash, GENESIS, type LedgerDraft } from '../../core/ledger/ledger.ts';
import { endedAt, type Call } from '../../core/call/call.ts';
import type { Queryable } from '../../postgres/connection.ts';
import { aRun, digest, rowsOf } from '../samples.contract.ts';
import { STATE_CODES } from '../state-codes.ts';
import { mutableJson, resultOf } from '../stored-call.ts';
import { CALL_COLUMNS } from './call-row.ts';
import type { Tables } from './schema.ts';

export interface Batch {
  readonly calls?: readonly Call[];
  /** Default: the rows of the calls' timelines. */
  readonly entries?: readonly LedgerDraft[];
  readonly period?: number;
}

/** Writes batches with plain SQL, as one of several writers. Does not check anything. */
export class SqlWriter {
  readonly #queryable: Queryable;
  readonly #tables: Tables;
  readonly writer: number;
  #segment = 0;
  #no = 0;
  #hash: string = GENESIS;

  private constructor(queryable: Queryable, tables: Tables, writer: number) {
    this.#queryable = queryable;
    this.#tables = tables;
    this.writer = writer;
  }

  static async add(queryable: Queryable, tables: Tables, writer: number): Promise<SqlWriter> {
    const { writers, segments } = tables;
    await queryable.query(
      sql(`with w as (insert into ${writers} values ($1, 'held', 'test', 1, 0, 0))
        insert into ${segments} (writer, no, epoch, period, first, last, hash)
        values ($1, 0, 0, 0, 1, 0, decode($2, 'hex'))`),
      [writer, GENESIS],
    );
    return new SqlWriter(queryable, tables, writer);
  }

  /** The number of the last ledger row. */
  get no(): number {
    return this.#no;
  }

  async write({ calls = [], entries, period = 202_510 }: Batch): Promise<void> {
    for (const call of calls) await this.#writeCall(call);
    const first = this.#no + 1;
    const rows = (entries ?? calls.flatMap((call) => rowsOf(call))).map((entry) => {
      this.#no += 1;
      this.#hash = chainHash(digest, this.#hash, this.#no, entry);
      const { at, tenant, kind, callId: id, traceId, body } = entry;
      return { no: this.#no, at, tenant, kind, call_id: id, trace_id: traceId, body, hash: this.#hash };
    });
    this.#segment += 1;
    const ended = calls.filter((call) => endedAt(call) !== null);
    await this.#queryable.query(
      sql(`with l as (
          insert into ${this.#tables.ledger} (period, writer, no, at, tenant, kind, call_id, trace_id, body, hash)
          select $1, $2, no, at, tenant, kind, call_id, trace_id, body, decode(hash, 'hex')
          from json_to_recordset($3::json) as x (no int8, at int8, tenant text, kind text,
            call_id text, trace_id text, body text, hash text))
        insert into ${this.#tables.segments} (writer, no, epoch, period, first, last, hash, ended)
        values ($2, $4, 1, $1, $5, $6, decode($7, 'hex'), $8)`),
      [
        period,
        this.writer,
        JSON.stringify(rows),
        this.#segment,
        first,
        this.#no,
        this.#hash,
        ended.length === 0
          ? null
          : JSON.stringify(ended.map(({ tenant, state }) => [tenant, STATE_CODES[state.name], 1])),
      ],
    );
  }

  async #writeCall(call: Call): Promise<void> {
    const { runs, calls, open_calls: open, ended_calls: ended } = this.#tables;
    const { id, tenant, agentId, createdAt } = aRun({
      id: call.runId,
      tenant: call.tenant,
      agentId: call.agentId,
    });
    await this.#queryable.query(
      sql(
        `insert into ${runs} (id, tenant, agent_id, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
      ),
      [id, tenant, agentId, createdAt],
    );
    const values = CALL_COLUMNS.map(([name]) => columnOf(call, name));
    await this.#queryable.query(
      sql(`insert into ${calls} (${CALL_COLUMNS.map(([name]) => name).join(', ')})
        values (${values.map((_, index) => `$${index + 1}`).join(', ')})`),
      values,
    );
    const at = endedAt(call);
    const state = [call.id, call.version, STATE_CODES[call.state.name]];
    if (at === null)
      await this.#queryable.query(sql(`insert into ${open} values ($1, $2, $3, $4, $5)`), [
        ...state,
        this.writer,
        mutableJson(call),
      ]);
    else
      await this.#queryable.query(sql(`insert into ${ended} values ($1, $2, $3, $4, $5, $6)`), [
        ...state,
        at,
        mutableJson(call),
        resultOf(call),
      ]);
  }
}

const NAMES: Readonly<Record<string, keyof Call>> = { args: 'argsJson' };

function columnOf(call: Call, column: string): string | number | null {
  const member = NAMES[column] ?? column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const value = call[member as keyof Call];
  return value === null || typeof value === 'string' || typeof value === 'number'
    ? value
    : JSON.stringify(value);
}

let statements = 0;

/** A statement that is used once. */
export function sql(text: string): { readonly name: string; readonly text: string } {
  statements += 1;
  return { name: `sql_${statements}`, text };
}
