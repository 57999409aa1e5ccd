import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { IndexedCall } from '../../../core/search/call-search.ts';
import { wordsOfArguments } from '../../../core/search/words.ts';
import type { RemovedCall } from '../call-table.ts';
import { integer, type Row } from '../rows.ts';
import { NO_CODE, NO_TENANT, type NameTable } from './name-table.ts';

const COLUMNS = [
  'n',
  'tenant',
  'tool',
  'agent',
  'client',
  'state',
  'code',
  'created',
  'ended',
  'waited',
  'ran',
  'total',
  'id',
  'run',
  'trace',
  'parent',
];
/** Columns of names that are counted. */
const NAMES = ['tenant', 'tool', 'agent', 'client', 'state', 'code'] as const;

/** Calls removed in one transaction. */
const REMOVED_AT_ONCE = 200;

/** Adds and removes calls, with their words and the counts of their names. */
export class CallEntries {
  readonly #names: NameTable;
  readonly #insert: StatementSync;
  readonly #insertWords: StatementSync;
  readonly #last: StatementSync;
  readonly #endedBefore: StatementSync;
  readonly #byId: StatementSync;
  readonly #remove: StatementSync;
  readonly #removeWords: StatementSync;
  readonly #removeNames: StatementSync;

  constructor(database: DatabaseSync, names: NameTable) {
    this.#names = names;
    this.#insert = database.prepare(
      `insert into calls (${COLUMNS.join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})`,
    );
    this.#insertWords = database.prepare('insert into words (rowid, phrase) values (?, ?)');
    this.#last = database.prepare('select coalesce(max(n), 0) as n from calls');
    const columns = `n, ${NAMES.join(', ')}`;
    this.#endedBefore = database.prepare(
      `select ${columns} from calls indexed by calls_ended where ended < ? order by ended limit ${REMOVED_AT_ONCE}`,
    );
    this.#byId = database.prepare(
      `select ${columns} from calls indexed by calls_created where tenant = ? and created = ? and id = ?`,
    );
    this.#remove = database.prepare('delete from calls where n = ?');
    this.#removeWords = database.prepare('delete from words where rowid = ?');
    this.#removeNames = database.prepare('delete from names where calls <= 0');
  }

  add(calls: readonly IndexedCall[]): void {
    if (calls.length === 0) return;
    const counts = new Map<number, number>();
    let n = this.#lastNumber();
    for (const call of calls) {
      n += 1;
      this.#addOne(n, call, counts);
    }
    for (const [id, count] of counts) this.#names.count(id, count);
  }

  /** Removes some of the calls that ended before. Returns false if there are none. */
  removeEndedBefore(before: number): boolean {
    return this.#removeAll(this.#endedBefore.all(before));
  }

  removeCalls(calls: readonly RemovedCall[]): void {
    for (const { tenant, id, createdAt } of calls) {
      const [own] = this.#names.find(NO_TENANT, 'tenant', tenant).ids;
      if (own !== undefined) this.#removeAll(this.#byId.all(own, createdAt, id));
    }
  }

  #addOne(n: number, call: IndexedCall, counts: Map<number, number>): void {
    const names = this.#names;
    const tenant = names.idOf(NO_TENANT, 'tenant', call.tenant);
    const tool = names.idOf(tenant, 'tool', call.toolName);
    const agent = names.idOf(tenant, 'agent', call.agentId);
    const client = call.clientId === null ? null : names.idOf(tenant, 'client', call.clientId);
    const state = names.idOf(tenant, 'state', call.state);
    const code = call.code === null ? NO_CODE : names.idOf(tenant, 'code', call.code);
    for (const id of [tenant, tool, agent, client, state, code])
      if (id !== null && id !== NO_CODE) counts.set(id, (counts.get(id) ?? 0) + 1);
    const { createdAt, endedAt, waitedMs, ranMs, id, runId, traceId, parentCallId } = call;
    const times = [createdAt, endedAt, waitedMs, ranMs, waitedMs + ranMs] as const;
    this.#insert.run(n, tenant, tool, agent, client, state, code, ...times, id, runId, traceId, parentCallId);
    const words = wordsOfArguments(call.argsJson);
    if (words.length > 0) this.#insertWords.run(n, words.join(' '));
  }

  #removeAll(rows: readonly Row[]): boolean {
    const counts = new Map<number, number>();
    for (const row of rows) {
      const n = integer(row, 'n');
      this.#remove.run(n);
      this.#removeWords.run(n);
      for (const name of NAMES) {
        const id = row[name];
        if (typeof id === 'number' && id !== NO_CODE) counts.set(id, (counts.get(id) ?? 0) - 1);
      }
    }
    for (const [id, count] of counts) this.#names.count(id, count);
    if (rows.length > 0) {
      this.#removeNames.run();
      this.#names.reset();
    }
    return rows.length > 0;
  }

  #lastNumber(): number {
    const row = this.#last.get();
    return row === undefined ? 0 : integer(row, 'n');
  }
}
