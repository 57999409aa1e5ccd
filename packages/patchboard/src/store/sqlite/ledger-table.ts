import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call } from '../../core/call/call.ts';
import {
  GENESIS,
  chainHash,
  type LedgerDraft,
  type LedgerKind,
  type LedgerRow,
} from '../../core/ledger/ledger.ts';
import type { CommittedRow, Digest, LedgerFilter, LedgerReadOptions } from '../../core/ports.ts';
import { Turns } from '../turns.ts';
import { integer, text, textOrNull, type Row } from './rows.ts';

const WITH_CALLS: LedgerReadOptions = { withCalls: true };

/** Rows scanned before yielding to the event loop. */
const WINDOW = 2_000;

/** Rows inserted by one statement. */
const AT_ONCE = 16;

const MATCHES = `
  (:tenant is null or tenant = :tenant)
  and (:call is null or call_id = :call)
  and (:trace is null or trace_id = :trace)
  and (:kinds is null or kind in (select value from json_each(:kinds)))
  and (:from is null or at >= :from)
  and (:to is null or at < :to)`;

export interface LedgerOptions {
  readonly digest: Digest;
  readonly findCall: (id: string) => Call | undefined;
}

/** The hash chain. Its head is kept in memory and restored on a rollback. */
export class LedgerTable {
  readonly #options: LedgerOptions;
  /** Statements for one row and for many, so that a large commit needs few statements. */
  readonly #insertOne: StatementSync;
  readonly #insertMany: StatementSync;
  readonly #writeHead: StatementSync;
  readonly #ofCall: StatementSync;
  readonly #ofTrace: StatementSync;
  readonly #inWindow: StatementSync;
  #seq: number;
  #hash: string;
  #uncommitted: CommittedRow[] = [];
  /** Number of these rows already inserted in the transaction. */
  #written = 0;
  readonly #turns: Turns = new Turns();

  constructor(database: DatabaseSync, options: LedgerOptions) {
    this.#options = options;
    this.#insertOne = prepareInsert(database, 1);
    this.#insertMany = prepareInsert(database, AT_ONCE);
    this.#writeHead = database.prepare('update ledger_head set seq = ?, hash = ? where one = 1');
    this.#ofCall = prepareRead(database, 'call_id = :call and seq > :after');
    this.#ofTrace = prepareRead(database, 'trace_id = :trace and seq > :after');
    this.#inWindow = prepareRead(database, 'seq > :after and seq <= :end');
    const head = database.prepare('select seq, hash from ledger_head').get();
    this.#seq = head === undefined ? 0 : integer(head, 'seq');
    this.#hash = head === undefined ? GENESIS : text(head, 'hash');
  }

  get head(): { readonly seq: number; readonly hash: string } {
    return { seq: this.#seq, hash: this.#hash };
  }

  /**
   * Adds rows inside a transaction; `write` inserts them at its end. `call` is the new version of the call that the
   * entries refer to.
   */
  append(entries: readonly LedgerDraft[], call: Call | null): void {
    for (const entry of entries) {
      const { at, tenant, kind, callId, traceId, body } = entry;
      const seq = this.#seq + 1;
      const hash = chainHash(this.#options.digest, this.#hash, seq, entry);
      this.#seq = seq;
      this.#hash = hash;
      this.#uncommitted.push({
        row: { seq, at, tenant, kind, callId, traceId, body, hash },
        call: callId === call?.id ? call : this.#findCall(callId),
      });
    }
  }

  /** Inserts the rows at the end of a transaction. */
  write(): void {
    const rows = this.#uncommitted;
    if (this.#written === rows.length) return;
    for (; rows.length - this.#written >= AT_ONCE; this.#written += AT_ONCE) {
      this.#insertMany.run(...valuesOf(rows, this.#written, AT_ONCE));
    }
    for (; this.#written < rows.length; this.#written += 1) {
      this.#insertOne.run(...valuesOf(rows, this.#written, 1));
    }
    this.#writeHead.run(this.#seq, this.#hash);
  }

  takeCommitted(): readonly CommittedRow[] {
    const rows = this.#uncommitted;
    this.#uncommitted = [];
    this.#written = 0;
    return rows;
  }

  save(): () => void {
    const seq = this.#seq;
    const hash = this.#hash;
    const rows = this.#uncommitted.length;
    const written = this.#written;
    return () => {
      this.#seq = seq;
      this.#hash = hash;
      this.#uncommitted.length = rows;
      this.#written = written;
    };
  }

  async read(
    filter: LedgerFilter,
    after: number,
    limit: number,
    { withCalls }: LedgerReadOptions = WITH_CALLS,
  ): Promise<readonly CommittedRow[]> {
    const statement = this.#statementFor(filter);
    const found: CommittedRow[] = [];
    for (let position = after; found.length < limit && position < this.#seq;) {
      const end = position + WINDOW;
      const wanted = Math.min(limit - found.length, WINDOW);
      const rows = statement.all({ ...parametersOf(filter), after: position, end, wanted }).map(toLedgerRow);
      if (withCalls) this.#attachCalls(rows, found);
      else for (const row of rows) found.push({ row, call: null });
      const last = rows.at(-1);
      if (last !== undefined && rows.length === wanted) position = last.seq;
      else if (statement === this.#inWindow) position = end;
      else break;
      if (found.length < limit) await nextTurn();
    }
    await this.#turns.after(found.length);
    return found;
  }

  #statementFor(filter: LedgerFilter): StatementSync {
    if (filter.callId !== undefined) return this.#ofCall;
    return filter.traceId === undefined ? this.#inWindow : this.#ofTrace;
  }

  #attachCalls(rows: readonly LedgerRow[], found: CommittedRow[]): void {
    const calls = new Map<string | null, Call | null>();
    for (const row of rows) {
      const { callId } = row;
      if (!calls.has(callId)) calls.set(callId, this.#findCall(callId));
      found.push({ row, call: calls.get(callId) ?? null });
    }
  }

  #findCall(id: string | null): Call | null {
    return id === null ? null : (this.#options.findCall(id) ?? null);
  }
}

function prepareInsert(database: DatabaseSync, rows: number): StatementSync {
  const row = '(?, ?, ?, ?, ?, ?, ?, ?)';
  return database.prepare(
    `insert into ledger (seq, at, tenant, kind, call_id, trace_id, body, hash)
     values ${Array.from({ length: rows }, () => row).join(', ')}`,
  );
}

function valuesOf(rows: readonly CommittedRow[], from: number, count: number): (string | number | null)[] {
  const values: (string | number | null)[] = [];
  for (let index = from; index < from + count; index += 1) {
    const row = rows[index]?.row;
    if (row === undefined) throw new Error('a ledger row is missing');
    const { seq, at, tenant, kind, callId, traceId, body, hash } = row;
    values.push(seq, at, tenant, kind, callId, traceId, body, hash);
  }
  return values;
}

function prepareRead(database: DatabaseSync, range: string): StatementSync {
  const statement = database.prepare(
    `select * from ledger where ${range} and ${MATCHES} order by seq limit :wanted`,
  );
  statement.setAllowUnknownNamedParameters(true);
  return statement;
}

function parametersOf(filter: LedgerFilter): Record<string, string | number | null> {
  return {
    tenant: filter.tenant ?? null,
    call: filter.callId ?? null,
    trace: filter.traceId ?? null,
    kinds: filter.kinds === undefined ? null : JSON.stringify(filter.kinds),
    from: filter.from ?? null,
    to: filter.to ?? null,
  };
}

export function toLedgerRow(row: Row): LedgerRow {
  return {
    seq: integer(row, 'seq'),
    at: integer(row, 'at'),
    tenant: text(row, 'tenant'),
    kind: text(row, 'kind') as LedgerKind,
    callId: textOrNull(row, 'call_id'),
    traceId: textOrNull(row, 'trace_id'),
    body: text(row, 'body'),
    hash: text(row, 'hash'),
  };
}
