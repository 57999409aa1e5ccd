import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { CallStateName } from '@patchboard/wire';
import { endedAt, isOpen, type Call } from '../../core/call/call.ts';
import type { NewCall, StateCounts } from '../../core/ports.ts';
import { EndedCounts } from '../ended-counts.ts';
import { countEndedCalls } from './count-ended-calls.ts';
import { OPEN_CODES, STATE_CODES, stateNameOf } from '../state-codes.ts';
import { mutableJson, resultOf } from '../stored-call.ts';
import { CALL_COLUMNS, insertCall } from './call-row.ts';
import { integer, text } from './rows.ts';

export interface UsedKey {
  readonly callId: string;
  readonly bodyHash: string;
  readonly expiresAt: number;
}

export type RemovedCall = Pick<Call, 'id' | 'tenant' | 'runId' | 'createdAt'>;

/** Writes single calls by key. Ended calls are counted in memory; a rollback restores the count. */
export class CallTable {
  readonly #insert: StatementSync;
  readonly #replace: StatementSync;
  readonly #replaceByNo: StatementSync;
  readonly #rewriteArgs: StatementSync;
  readonly #byKey: StatementSync;
  readonly #freeKey: StatementSync;
  readonly #remove: StatementSync;
  readonly #countOpen: StatementSync;
  readonly #ended: EndedCounts = new EndedCounts();
  /** Numbers of open calls inserted by this process: an update by number avoids an index lookup. */
  readonly #numbers: Map<string, number> = new Map();

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `insert into calls (${CALL_COLUMNS.join(', ')}) values (${CALL_COLUMNS.map(() => '?').join(', ')})`,
    );
    const replace = 'update calls set version = ?, state = ?, ended_at = ?, tail = ?, result = ? where';
    this.#replace = database.prepare(`${replace} id = ? and version = ?`);
    this.#replaceByNo = database.prepare(`${replace} no = ? and id = ? and version = ?`);
    this.#rewriteArgs = database.prepare('update calls set args = ? where id = ?');
    this.#byKey = database.prepare(
      'select id, idempotency_hash, idempotency_expires_at from calls where idempotency_scope = ?',
    );
    this.#freeKey = database.prepare(
      `update calls set idempotency_scope = null, idempotency_hash = null, idempotency_expires_at = null
       where idempotency_scope = ?`,
    );
    this.#remove = database.prepare(
      'delete from calls where no = ? and ended_at < ? returning state, run_id, tenant, id, created_at',
    );
    this.#countOpen = database.prepare(
      `select state, count(*) as calls from calls where state <> 4 and state in (${OPEN_CODES}) group by state`,
    );
    for (const { tenant, state, calls } of countEndedCalls(database)) this.#ended.add(tenant, state, calls);
  }

  insert(no: number, given: NewCall): void {
    const { call } = given;
    insertCall(this.#insert, no, given);
    if (isOpen(call)) this.#numbers.set(call.id, no);
    else this.#ended.add(call.tenant, call.state.name, 1);
  }

  replace(call: Call, expectedVersion: number): boolean {
    const { id, version } = call;
    const state = STATE_CODES[call.state.name];
    const no = this.#numbers.get(id);
    const { changes } =
      no === undefined
        ? this.#replace.run(
            version,
            state,
            endedAt(call),
            mutableJson(call),
            resultOf(call),
            id,
            expectedVersion,
          )
        : this.#replaceByNo.run(
            version,
            state,
            endedAt(call),
            mutableJson(call),
            resultOf(call),
            no,
            id,
            expectedVersion,
          );
    if (changes === 0) return false;
    if (!isOpen(call)) this.#numbers.delete(id);
    this.#ended.add(call.tenant, call.state.name, 1);
    return true;
  }

  rewriteArgs({ argsJson, id }: Call): void {
    this.#rewriteArgs.run(argsJson, id);
  }

  findKey(scope: string): UsedKey | undefined {
    const row = this.#byKey.get(scope);
    if (row === undefined) return undefined;
    return {
      callId: text(row, 'id'),
      bodyHash: text(row, 'idempotency_hash'),
      expiresAt: integer(row, 'idempotency_expires_at'),
    };
  }

  freeKey(scope: string): void {
    this.#freeKey.run(scope);
  }

  /** Removes a call with its idempotency key. Returns undefined if it was already removed. */
  remove(no: number, endedBefore: number): RemovedCall | undefined {
    const removed = this.#remove.get(no, endedBefore);
    if (removed === undefined) return undefined;
    const tenant = text(removed, 'tenant');
    this.#ended.add(tenant, stateNameOf(integer(removed, 'state')), -1);
    const createdAt = integer(removed, 'created_at');
    return { runId: text(removed, 'run_id'), tenant, id: text(removed, 'id'), createdAt };
  }

  /** Counts the few open calls by their index, and uses the counts in memory for ended ones. */
  countByState(): StateCounts {
    const counts: Partial<Record<CallStateName, number>> = { ...this.#ended.all };
    for (const row of this.#countOpen.all()) {
      counts[stateNameOf(integer(row, 'state'))] = integer(row, 'calls');
    }
    return counts;
  }

  countEnded(tenant: string): StateCounts {
    return { ...this.#ended.of(tenant) };
  }

  committed(): void {
    this.#ended.committed();
  }

  save(): () => void {
    const restoreCounts = this.#ended.save();
    return () => {
      restoreCounts();
      // Some of these calls may not exist after the rollback; the others are found by their ids.
      this.#numbers.clear();
    };
  }
}
