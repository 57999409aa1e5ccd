import type pg from 'pg';
import { BoundedMap } from '../../core/bounded-map.ts';
import { pairKey } from '../../core/pair-key.ts';
import type { NewCall, Run } from '../../core/ports.ts';
import { int8Array, textArray } from '../../postgres/arrays.ts';
import type { Connection, QueryRows, Statement, Transaction } from '../../postgres/connection.ts';
import { BEGIN } from '../../postgres/session.ts';
import { allInOrder } from '../../postgres/all-in-order.ts';
import { isDuplicate, summary, type AppliedBatch, type RefusedRow } from './batch-summary.ts';
import { insertedValues, replacedValues } from './call-row.ts';
import { callStatements, type CallStatements } from './call-statements.ts';
import type { Tables } from './schema.ts';
import type { InsertWrite, OtherWrite, ReplaceWrite, Write, WriteOutcome } from './write.ts';

/** A statement whose values are encoded. */
interface Planned {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** The batch depends on a run that is gone. It succeeds if it is repeated, because it creates the run then. */
export class RunForgotten extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RunForgotten';
  }
}

const REMEMBERED_RUNS = 4096;
const BEGIN_BATCH: Statement = { name: 'begin', text: BEGIN };
const SHORT_LOCK_TIMEOUT: Statement = {
  name: 'short_lock_timeout',
  text: `select set_config('lock_timeout', '100ms', true), set_config('statement_timeout', '2s', true)`,
};
const NOT_REFUSED: ReadonlyMap<number, RefusedRow> = new Map();

/** The changes of a batch in the database, before its ledger rows are known. */
export class BatchChanges {
  readonly #connection: Connection;
  readonly #statements: CallStatements;
  readonly #writer: number;
  /** Runs that exist. Whether one is cancelled is always read. */
  readonly #knownRuns: BoundedMap<string, true> = new BoundedMap(REMEMBERED_RUNS);

  constructor(connection: Connection, tables: Tables, writer: number) {
    this.#connection = connection;
    this.#statements = callStatements(tables);
    this.#writer = writer;
  }

  /**
   * Begins a transaction and applies the writes in one round trip; an `OtherWrite` is the only one of its batch. `failsFast`:
   * fails after a short time if another session holds a lock.
   */
  async apply(client: pg.Client, writes: readonly Write[], failsFast: boolean): Promise<AppliedBatch> {
    const [first] = writes;
    if (first?.kind === 'other') return await this.#applyOther(client, first);
    const inserts = writes.filter((write) => write.kind === 'insert');
    const replaces = writes.filter((write) => write.kind === 'replace');
    // All values are encoded before the first statement is sent: a value that cannot be encoded leaves none behind.
    const inserting = inserts.length === 0 ? null : this.#insert(inserts);
    const replacing = replaces.length === 0 ? null : this.#replace(replaces);
    const { sent, refusing, losing } = this.#connection.inOneWrite(client, () => ({
      sent: [
        this.#begin(client),
        failsFast ? this.#connection.send(client, SHORT_LOCK_TIMEOUT, []) : null,
        ...(inserting?.before ?? []).map((planned) => this.#send(client, planned)),
      ],
      refusing: inserting === null ? null : this.#send<RefusedRow>(client, inserting.insert),
      losing: replacing === null ? null : this.#send<{ readonly id: string }>(client, replacing),
    }));
    await allInOrder([...sent, refusing, losing]);
    const refused = refusing === null ? NOT_REFUSED : byNumber(await refusing);
    this.#checkRuns(inserts, refused);
    return summary(writes, refused, new Set((await losing)?.rows.map(({ id }) => id)));
  }

  /** Must be called when the batch is committed: what was rolled back must not be remembered. */
  committed(writes: readonly Write[], outcomes: readonly WriteOutcome[]): void {
    for (const [index, write] of writes.entries())
      if (write.kind === 'insert' && outcomes[index]?.kind === 'inserted')
        this.#knownRuns.set(runKey(write.record.run), true);
  }

  /** The statements that follow from what `apply` returned, in the second round trip. */
  finish(client: pg.Client, { rewritten, unclaimed }: AppliedBatch): Promise<unknown>[] {
    const { rewriteArgs, unclaim } = this.#statements;
    const sent: Promise<unknown>[] = [];
    if (unclaimed.length > 0) sent.push(this.#connection.send(client, unclaim, [textArray(unclaimed)]));
    if (rewritten.length > 0) {
      const values = [
        textArray(rewritten.map(({ id }) => id)),
        textArray(rewritten.map(({ argsJson }) => argsJson)),
      ];
      sent.push(this.#connection.send(client, rewriteArgs, values));
    }
    return sent;
  }

  #insert(inserts: readonly InsertWrite[]): {
    readonly before: readonly Planned[];
    readonly insert: Planned;
  } {
    const { claim, runs, insert, insertUnkeyed } = this.#statements;
    const records = inserts.map(({ record }) => record);
    const keyed = records.filter(({ idempotency }) => idempotency !== null);
    const before: Planned[] = [];
    if (keyed.length > 0) before.push({ statement: claim, values: claimValues(keyed) });
    const ofNewRuns = records.filter(({ run }) => this.#knownRuns.get(runKey(run)) === undefined);
    if (ofNewRuns.length > 0) before.push({ statement: runs, values: runValues(ofNewRuns) });
    const statement = keyed.length > 0 ? insert : insertUnkeyed;
    return { before, insert: { statement, values: [...insertedValues(records), this.#writer] } };
  }

  #replace(replaces: readonly ReplaceWrite[]): Planned {
    const values = [...replacedValues(replaces), this.#writer];
    return { statement: this.#statements.replace, values };
  }

  /** A run that is remembered but not stored: the database was restored, or the run was deleted. */
  #checkRuns(inserts: readonly InsertWrite[], refused: ReadonlyMap<number, RefusedRow>): void {
    for (const [index, { record }] of inserts.entries()) {
      const row = refused.get(index + 1);
      if (row === undefined || row.agent_id !== null || isDuplicate(record, row)) continue;
      if (this.#knownRuns.get(runKey(record.run)) === undefined) continue;
      this.#knownRuns.clear();
      throw new RunForgotten(`run ${record.run.id} is not stored any more`);
    }
  }

  async #send<Row extends object>(
    client: pg.Client,
    { statement, values }: Planned,
  ): Promise<QueryRows<Row>> {
    return await this.#connection.send<Row>(client, statement, values);
  }

  async #applyOther(client: pg.Client, { run }: OtherWrite): Promise<AppliedBatch> {
    await this.#begin(client);
    const transaction: Transaction = {
      query: (statement, values = []) => this.#connection.send(client, statement, values),
      run: async (text) => void (await client.query(text)),
    };
    const { value, entries } = await run(transaction);
    return {
      outcomes: [{ kind: 'done', value }],
      drafts: entries,
      ended: null,
      rewritten: [],
      unclaimed: [],
    };
  }

  #begin(client: pg.Client): Promise<unknown> {
    const { beginText } = this.#connection;
    // With settings it is several statements, which cannot be prepared.
    return beginText === BEGIN ? this.#connection.send(client, BEGIN_BATCH, []) : client.query(beginText);
  }
}

function byNumber({ rows }: QueryRows<RefusedRow>): ReadonlyMap<number, RefusedRow> {
  return rows.length === 0 ? NOT_REFUSED : new Map(rows.map((row) => [row.n, row]));
}

function claimValues(records: readonly NewCall[]): Buffer[] {
  return [
    textArray(records.map(({ idempotency }) => idempotency?.scope ?? null)),
    textArray(records.map(({ call }) => call.id)),
    textArray(records.map(({ idempotency }) => idempotency?.bodyHash ?? null)),
    int8Array(records.map(({ call }) => call.createdAt)),
    int8Array(records.map(({ idempotency }) => idempotency?.expiresAt ?? null)),
  ];
}

function runValues(records: readonly NewCall[]): Buffer[] {
  return [
    textArray(records.map(({ run }) => run.tenant)),
    textArray(records.map(({ run }) => run.id)),
    textArray(records.map(({ run }) => run.agentId)),
    int8Array(records.map(({ run }) => run.createdAt)),
    textArray(records.map(({ idempotency }) => idempotency?.scope ?? null)),
    textArray(records.map(({ call }) => call.id)),
  ];
}

function runKey({ tenant, id }: Run): string {
  return pairKey(tenant, id);
}
