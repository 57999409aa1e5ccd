import {
  NodeFenced,
  type Beat,
  type CallPlace,
  type ClientName,
  type HandedOver,
  type HomePlace,
  type NodeKey,
  type NodeReport,
  type NodeTable,
  type OfferedCall,
} from '../../cluster/node-table.ts';
import type { Call } from '../../core/call/call.ts';
import type { WaitingCall } from '../../core/peers.ts';
import { lockWriters } from '../../postgres/advisory-locks.ts';
import { int4Array, textArray } from '../../postgres/arrays.ts';
import type { Connection, LimitedTransaction, Transaction } from '../../postgres/connection.ts';
import { lossOf, nodeRowOf, type TookOver } from './beat.ts';
import type { CallReader } from './call-reader.ts';
import type { HeartbeatThread } from './heartbeat-thread.ts';
import { nodeStatements, type NodeStatements } from './node-statements.ts';
import type { Tables } from './schema.ts';
import type { StoreTime } from './store-time.ts';
import { fenced, restored, type WriterLost } from './writer-lost.ts';
import { insertFence, type HeldWriter } from './writer-slot.ts';

export interface NodeTableParts {
  readonly beats: Pick<HeartbeatThread, 'beat'>;
  /** For everything but heartbeats. */
  readonly connection: Connection;
  readonly schema: string;
  readonly tables: Tables;
  readonly held: HeldWriter;
  readonly calls: Pick<CallReader, 'openOf'>;
  /** Returns the number of the last segment that this process committed. */
  readonly committed: () => number;
  /** Called if another process has taken the writer, or the database was restored to an earlier state. */
  readonly lost: (error: WriterLost) => void;
  /** Follows the clock of the database with each heartbeat. */
  readonly time: Pick<StoreTime, 'measured'> | null;
}

interface PlaceRow {
  readonly id: string;
  readonly version: number;
  readonly owner: number | null;
  readonly is_open: boolean;
}

interface OfferedRow {
  readonly id: string;
  readonly tenant: string;
  readonly tool_name: string;
  readonly tool_version: string;
}

interface HomeRow {
  readonly home: number | null;
  readonly home_epoch: number | null;
  readonly home_place: string | null;
}

interface WaitingRow {
  readonly id: string;
  readonly version: number;
  readonly tenant: string;
  readonly client: string;
}

/** The nodes that share a PostgreSQL store. */
export class PostgresNodeTable implements NodeTable {
  readonly self: NodeKey;
  readonly #parts: NodeTableParts;
  readonly #statements: NodeStatements;
  /** The highest heartbeat of this node that was read. */
  #beat = 0;

  constructor(parts: NodeTableParts) {
    const { writer, epoch } = parts.held;
    this.self = { writer, epoch };
    this.#parts = parts;
    this.#statements = nodeStatements(parts.tables);
  }

  async beat(report: NodeReport): Promise<Beat> {
    const { beats, connection, tables, held, committed, time } = this.#parts;
    const expected = committed();
    const rows = await beats.beat(held, report);
    const loss = await lossOf(connection, tables, held, expected, rows[0]?.no ?? null);
    if (loss !== null) throw this.#lost(loss);
    const { beat = 0 } = rows.find(({ writer }) => writer === held.writer) ?? {};
    // A node that has not written since the restored state would keep keys, policies and tools that are gone.
    if (beat < this.#beat) throw this.#lost(restored('heartbeat', this.#beat, beat));
    this.#beat = beat;
    const now = rows[0]?.now ?? 0;
    time?.measured(now);
    return { nodes: rows.map(nodeRowOf), now };
  }

  async takeOver(node: NodeKey & { readonly beat: number }): Promise<readonly string[] | null> {
    const { tables } = this.#parts;
    const { lockDead, takeAll, freeDead, recordTakeover } = this.#statements;
    return await this.#transaction(async (transaction) => {
      const { writer, epoch, beat } = node;
      const locked = await transaction.query(lockDead, [writer, epoch, beat]);
      if (locked.count === 0) return await this.#takenBefore(transaction, node);
      await transaction.allowLong();
      await insertFence(transaction, tables, { writer, epoch: epoch + 1 });
      const taken = await transaction.query<{ id: string }>(takeAll, [this.self.writer, writer]);
      const freed = await transaction.query<{ at: number }>(freeDead, [writer]);
      const record: TookOver = { from: writer, epoch, at: freed.rows[0]?.at ?? 0, calls: taken.count };
      await transaction.query(recordTakeover, [this.self.writer, JSON.stringify(record)]);
      return taken.rows.map(({ id }) => id).toSorted();
    });
  }

  async takenCalls(): Promise<readonly Pick<Call, 'id' | 'version'>[]> {
    return await this.#takenCalls(this.#parts.connection);
  }

  calls(ids: readonly string[]): AsyncIterable<Call> {
    return this.#parts.calls.openOf(ids, this.self.writer);
  }

  async claimOverdue(
    from: number,
    before: number,
    limit: number,
    owners: readonly number[] | null,
  ): Promise<readonly CallPlace[]> {
    const { writer, epoch } = this.self;
    const of = owners === null ? null : int4Array(owners);
    return await this.#places('claimOverdue', [writer, epoch, from, before, limit, of]);
  }

  async movedByOthers(): Promise<readonly CallPlace[]> {
    return await this.#places('movedByOthers', [this.self.writer]);
  }

  async places(ids: readonly string[]): Promise<readonly CallPlace[]> {
    return ids.length === 0 ? [] : await this.#places('places', [textArray(ids)]);
  }

  async waitingFor(clients: readonly ClientName[]): Promise<readonly WaitingCall[]> {
    if (clients.length === 0) return [];
    const { rows } = await this.#parts.connection.query<WaitingRow>(this.#statements.waitingFor, [
      this.self.writer,
      textArray(clients.map(({ tenant }) => tenant)),
      textArray(clients.map(({ clientId }) => clientId)),
    ]);
    return rows.map(({ client, ...call }) => ({ ...call, clientId: client }));
  }

  async offer(calls: readonly Pick<Call, 'id' | 'version'>[]): Promise<void> {
    if (calls.length === 0) return;
    await this.#transaction((transaction) =>
      transaction.query(this.#statements.offer, [
        this.self.writer,
        textArray(calls.map(({ id }) => id)),
        int4Array(calls.map(({ version }) => version)),
      ]),
    );
  }

  async offered(limit: number, after: string): Promise<readonly OfferedCall[]> {
    const { rows } = await this.#parts.connection.query<OfferedRow>(this.#statements.offered, [
      this.self.writer,
      limit,
      after,
    ]);
    return rows.map(({ id, tenant, tool_name: toolName, tool_version: toolVersion }) => ({
      id,
      tenant,
      toolName,
      toolVersion,
    }));
  }

  async takeOffered(ids: readonly string[]): Promise<readonly CallPlace[]> {
    const { writer, epoch } = this.self;
    return ids.length === 0 ? [] : await this.#places('takeOffered', [writer, epoch, textArray(ids)]);
  }

  async claimHome(
    { tenant, runId }: { readonly tenant: string; readonly runId: string },
    place: string,
  ): Promise<HomePlace> {
    const { writer, epoch } = this.self;
    const { home, lives, setHome } = this.#statements;
    return await this.#transaction(async (transaction) => {
      const { rows } = await transaction.query<HomeRow>(home, [tenant, runId]);
      const before = homeOf(rows[0]);
      if (before !== null) {
        const { writer: holder, epoch: since } = before;
        const isSelf = holder === writer && since === epoch;
        if (isSelf || (await transaction.query(lives, [holder, since])).count > 0)
          return { writer: holder, place: before.place, before: null };
      }
      await transaction.query(setHome, [writer, epoch, place, tenant, runId]);
      return { writer, place, before };
    });
  }

  async give({ id, version }: Pick<Call, 'id' | 'version'>, to: number): Promise<boolean> {
    const { lives, give } = this.#statements;
    return await this.#transaction(async (transaction) => {
      if ((await transaction.query(lives, [to, null])).count === 0) return false;
      return (await transaction.query(give, [this.self.writer, id, version, to])).count > 0;
    });
  }

  async handOver(preferred: number | null): Promise<HandedOver> {
    return await this.#transaction((transaction) => this.#handOver(transaction, preferred));
  }

  async leave(): Promise<HandedOver> {
    const { connection, schema } = this.#parts;
    const { writer, epoch } = this.self;
    return await connection.transaction(async (transaction) => {
      await transaction.allowLong();
      // A node that starts takes the calls of free writers, so it must be a successor or wait.
      await lockWriters(transaction, schema);
      const held = await transaction.query(this.#statements.hold, [writer, epoch]);
      if (held.count === 0) return { to: null, calls: 0 };
      const handed = await this.#handOver(transaction, null);
      await transaction.query(this.#statements.free, [writer, epoch]);
      return handed;
    });
  }

  async #handOver(transaction: LimitedTransaction, preferred: number | null): Promise<HandedOver> {
    const { writer } = this.self;
    const { rows } = await transaction.query<{ writer: number }>(this.#statements.successor, [
      writer,
      preferred,
    ]);
    const to = rows[0]?.writer ?? null;
    if (to === null) return { to, calls: 0 };
    await transaction.allowLong();
    const { count } = await transaction.query(this.#statements.handOver, [writer, to]);
    return { to, calls: count };
  }

  /** After a lost connection the transaction is repeated, although it may have committed. */
  async #takenBefore(transaction: Transaction, node: NodeKey): Promise<readonly string[] | null> {
    const { rows } = await transaction.query<{ took_over: string | null }>(this.#statements.tookOver, [
      this.self.writer,
    ]);
    const text = rows[0]?.took_over ?? null;
    if (text === null) return null;
    const { from, epoch } = JSON.parse(text) as TookOver;
    if (from !== node.writer || epoch !== node.epoch) return null;
    return (await this.#takenCalls(transaction)).map(({ id }) => id);
  }

  async #takenCalls(queryable: Pick<Transaction, 'query'>): Promise<readonly Pick<Call, 'id' | 'version'>[]> {
    const { taken } = this.#statements;
    const { rows } = await queryable.query<{ id: string; version: number }>(taken, [this.self.writer]);
    return rows;
  }

  async #places(
    name: 'claimOverdue' | 'takeOffered' | 'movedByOthers' | 'places',
    values: readonly unknown[],
  ): Promise<readonly CallPlace[]> {
    const { rows } = await this.#parts.connection.query<PlaceRow>(this.#statements[name], values);
    return rows.map(({ id, version, owner, is_open: isOpen }) => ({ id, version, owner, isOpen }));
  }

  /** Runs `work` while no other node can take this one for dead. */
  async #transaction<T>(work: (transaction: LimitedTransaction) => Promise<T>): Promise<T> {
    const { writer, epoch } = this.self;
    return await this.#parts.connection.transaction(async (transaction) => {
      const held = await transaction.query(this.#statements.hold, [writer, epoch]);
      if (held.count === 0) throw this.#lost(fenced());
      return await work(transaction);
    });
  }

  #lost(error: WriterLost): NodeFenced {
    this.#parts.lost(error);
    return new NodeFenced(error.message);
  }
}

function homeOf(row: HomeRow | undefined): (NodeKey & { readonly place: string }) | null {
  if (row === undefined || row.home === null) return null;
  return { writer: row.home, epoch: row.home_epoch ?? 0, place: row.home_place ?? '' };
}
