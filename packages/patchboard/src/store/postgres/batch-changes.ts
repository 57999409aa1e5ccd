import type pg from 'pg';
import { BoundedMap } from '../../core/bounded-map.ts';
import { isOpen, type Call } from '../../core/call/call.ts';
import type { LedgerDraft } from '../../core/ledger/ledger.ts';
import { pairKey } from '../../core/pair-key.ts';
import type { NewCall, Run } from '../../core/ports.ts';
import { int8Array, textArray } from '../../postgres/arrays.ts';
import type { Connection, QueryRows, Statement, Transaction } from '../../postgres/connection.ts';
import { STATE_CODES } from '../state-codes.ts';
import { allInOrder } from './all-in-order.ts';
import { insertedValues, replacedValues } from './call-rows.ts';
import { callStatements, type CallStatements } from './call-statements.ts';
import type { Tables } from './schema.ts';
import type { InsertWrite, OtherWrite, ReplaceWrite, Write, WriteOutcome } from './write.ts';

/** What the first round trip of a batch found out. */
export interface AppliedBatch {
  readonly outcomes: readonly WriteOutcome[];
  /** The ledger rows of the writes that apply, in their order. */
  readonly drafts: readonly LedgerDraft[];
  /** JSON of `[tenant, state code, count]` for the calls that ended; null if none did. */
  readonly ended: string | null;
  /** Calls whose arguments must be written too. */
  readonly rewritten: readonly Call[];
  /** Calls that claimed a key and were refused because of their run. */
  readonly unclaimed: readonly string[];
}

interface RefusedRow {
  readonly n: number;
  readonly holder: string | null;
  readonly body_hash: string | null;
  readonly agent_id: string | null;
  readonly created_at: number | null;
  readonly cancelled_at: number | null;
}

const REMEMBERED_RUNS = 4096;
const BEGIN: Statement = { name: 'begin', text: 'begin' };
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

  /** Begins a transaction and applies the writes in one round trip; an `OtherWrite` is the only one of its batch. */
  async apply(client: pg.Client, writes: readonly Write[]): Promise<AppliedBatch> {
    const [first] = writes;
    if (first?.kind === 'other') return await this.#applyOther(client, first);
    const inserts = writes.filter((write) => write.kind === 'insert');
    const replaces = writes.filter((write) => write.kind === 'replace');
    const sent: Promise<unknown>[] = [this.#begin(client)];
    const refusing = inserts.length === 0 ? null : this.#insert(client, inserts, sent);
    const losing = replaces.length === 0 ? null : this.#replace(client, replaces, sent);
    await allInOrder(sent);
    const refused = refusing === null ? NOT_REFUSED : byNumber(await refusing);
    const lost = new Set((await losing)?.rows.map(({ id }) => id));
    for (const { record } of inserts) this.#knownRuns.set(runKey(record.run), true);
    return summary(writes, refused, lost);
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

  #insert(
    client: pg.Client,
    inserts: readonly InsertWrite[],
    sent: Promise<unknown>[],
  ): Promise<QueryRows<RefusedRow>> {
    const { claim, runs, insert, insertUnkeyed } = this.#statements;
    const records = inserts.map(({ record }) => record);
    const keyed = records.filter(({ idempotency }) => idempotency !== null);
    if (keyed.length > 0) sent.push(this.#connection.send(client, claim, claimValues(keyed)));
    const ofNewRuns = records.filter(({ run }) => this.#knownRuns.get(runKey(run)) === undefined);
    if (ofNewRuns.length > 0) sent.push(this.#connection.send(client, runs, runValues(ofNewRuns)));
    const statement = keyed.length > 0 ? insert : insertUnkeyed;
    const refused = this.#connection.send<RefusedRow>(client, statement, [
      ...insertedValues(records),
      this.#writer,
    ]);
    sent.push(refused);
    return refused;
  }

  #replace(
    client: pg.Client,
    replaces: readonly ReplaceWrite[],
    sent: Promise<unknown>[],
  ): Promise<QueryRows<{ readonly id: string }>> {
    const calls = replaces.map(({ call }) => call);
    const expected = replaces.map(({ expectedVersion }) => expectedVersion);
    const lost = this.#connection.send<{ id: string }>(client, this.#statements.replace, [
      ...replacedValues(calls, expected),
      this.#writer,
    ]);
    sent.push(lost);
    return lost;
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
    // A pooled connection gets its settings here, by several statements, which cannot be prepared.
    return this.#connection.isPooled
      ? client.query(this.#connection.beginText)
      : this.#connection.send(client, BEGIN, []);
  }
}

function summary(
  writes: readonly Write[],
  refused: ReadonlyMap<number, RefusedRow>,
  lost: ReadonlySet<string>,
): AppliedBatch {
  const outcomes: WriteOutcome[] = [];
  const drafts: LedgerDraft[] = [];
  const counts = new Map<string, [tenant: string, state: number, calls: number]>();
  const rewritten: Call[] = [];
  const unclaimed: string[] = [];
  const count = (call: Call): void => {
    if (isOpen(call)) return;
    const code = STATE_CODES[call.state.name];
    const key = pairKey(call.tenant, String(code));
    const known = counts.get(key);
    if (known === undefined) counts.set(key, [call.tenant, code, 1]);
    else known[2] += 1;
  };
  let number = 0;
  for (const write of writes) {
    if (write.kind === 'insert') {
      number += 1;
      const { record } = write;
      const row = refused.get(number);
      if (row === undefined) {
        outcomes.push(INSERTED);
        drafts.push(...record.entries);
        count(record.call);
      } else {
        outcomes.push(refusal(record, row));
        if (record.idempotency !== null && row.holder === record.call.id) unclaimed.push(record.call.id);
      }
    } else if (write.kind === 'replace') {
      const isLost = lost.has(write.call.id);
      outcomes.push(isLost ? CONFLICT : REPLACED);
      if (isLost) continue;
      drafts.push(...write.entries);
      if (write.argsChanged) rewritten.push(write.call);
      count(write.call);
    } else if (write.kind === 'append') {
      outcomes.push(DONE);
      drafts.push(...write.entries);
    }
  }
  const ended = counts.size === 0 ? null : JSON.stringify([...counts.values()]);
  return { outcomes, drafts, ended, rewritten, unclaimed };
}

const INSERTED: WriteOutcome = { kind: 'inserted' };
const REPLACED: WriteOutcome = { kind: 'replaced' };
const CONFLICT: WriteOutcome = { kind: 'conflict' };
const DONE: WriteOutcome = { kind: 'done', value: undefined };

/** Why a call was not inserted: its key is used, or its run is cancelled or of another agent. */
function refusal({ call, run }: NewCall, row: RefusedRow): WriteOutcome {
  const { holder, body_hash: bodyHash, agent_id: agentId, created_at: createdAt } = row;
  if (holder !== null && bodyHash !== null && holder !== call.id)
    return { kind: 'duplicate', callId: holder, bodyHash };
  if (agentId === null || createdAt === null) throw new Error(`run ${run.id} could not be created`);
  const { id, tenant } = run;
  return { kind: 'run_refused', run: { id, tenant, agentId, createdAt, cancelledAt: row.cancelled_at } };
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
