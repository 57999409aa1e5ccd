import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { messageOf, StorageUnavailable } from '../../core/failures.ts';
import type { Digest, Log, Store } from '../../core/ports.ts';
import type { RunningIndex } from '../../core/search/call-search.ts';
import { Connection } from '../../postgres/connection.ts';
import { connectionOptions, type ConnectionOptions } from '../../postgres/connection-options.ts';
import { keepsPreparedStatements } from '../../postgres/prepared-statements.ts';
import { connectAdvice, isConnectionLost, isPreparedStatementLost } from '../../postgres/sql-errors.ts';
import { StoreRefused, StoreUnreachable } from '../store-refused.ts';
import { BatchCommitter } from './batch-committer.ts';
import { CallLists } from './call-lists.ts';
import { CallReader } from './call-reader.ts';
import { CallCounts } from './counts.ts';
import { DeviceTable } from './device-table.ts';
import { DocumentTables } from './document-tables.ts';
import { EventReader } from './event-reader.ts';
import { LedgerFeed } from './feed.ts';
import { Heartbeat } from './heartbeat.ts';
import { HeartbeatThread } from './heartbeat-thread.ts';
import { LedgerReader } from './ledger-reader.ts';
import { LossListeners } from './loss-listeners.ts';
import { checkSchema, migrate, refusalOf, storeIdIn, type SchemaParts } from './migrations.ts';
import { PostgresNodeTable, type NodeTableParts } from './node-table.ts';
import { PostgresStore } from './postgres-store.ts';
import { Revisions } from './revisions.ts';
import { RunLists } from './run-lists.ts';
import { DEFAULT_SCHEMA, tablesIn, type Tables } from './schema.ts';
import { Sequencer } from './sequencer.ts';
import { SharedStore } from './shared-store.ts';
import { StoreTime } from './store-time.ts';
import type { ReadParts } from './store-parts.ts';
import { Retention } from './retention.ts';
import { PostgresCallSearch } from './search/call-search.ts';
import { IndexThread } from './search/index-thread.ts';
import { startMaintenance } from './maintenance.ts';
import { TokenTable } from './token-table.ts';
import { ToolTables } from './tool-tables.ts';
import { WriteQueue } from './write-queue.ts';
import type { WriterLost } from './writer-lost.ts';
import { freeWriter, takeWriter } from './writer-slot.ts';

export interface PostgresStoreOptions {
  readonly url: string;
  /** Default: `patchboard`. Created if it is missing. */
  readonly schema?: string;
  /** False: statements are not prepared, for poolers such as PgBouncer before 1.21. Default: true. */
  readonly prepare?: boolean;
  readonly digest: Digest;
  /** Default: no log. */
  readonly log?: Log | undefined;
  /** Epoch milliseconds. A store that several nodes share uses the clock of the database instead. */
  readonly now: () => number;
  /** Returns the smallest id that a call created at that time, or later, can have. */
  readonly firstIdAt: (ms: number) => string;
  /**
   * `many`: other processes with this option may use the store at the same time; each runs a heartbeat on `store.shared`.
   * Default: `one`, for commands and tests.
   */
  readonly nodes?: 'one' | 'many';
}

/** The parts of a store that can be read while a server writes it. */
export interface ReadPostgresStore extends Pick<
  Store,
  'ledgerHead' | 'readLedger' | 'readLedgerOrder' | 'findCall' | 'documents' | 'countByState'
> {
  close(): Promise<void>;
}

/**
 * The connection for takeovers and polls: behind a silent link another one must be found before the lease of a peer ends.
 * Transactions that change many rows lift the limits.
 */
const NODES = 'nodes';
const NODES_TIMEOUT = { statement_timeout: '2500ms', lock_timeout: '2s' };
const NODES_REPLY_MS = 3000;

/**
 * Connections that find rows by their keys. Without the setting a scan of `open_calls` looks cheaper until the table is
 * analyzed, and it reads the rows of all ended calls that are not vacuumed yet.
 */
const BY_KEY: readonly string[] = ['writer', 'reader', NODES, 'tokens'];
const WITHOUT_SCANS = { enable_seqscan: 'off' };

/**
 * Connections that requests wait for, with short statements. The server ends a statement before this process gives the
 * connection up, and that is early enough to try another one before requests fail.
 */
const SHORT: readonly string[] = ['writer', 'reader', 'tokens'];
const SHORT_TIMEOUT = { statement_timeout: '4s' };
const SHORT_REPLY_MS = 4500;

/** How long a start waits for a database that cannot be reached. */
const CONNECT_MS = 10_000;

/**
 * Opens the store, and creates or migrates its schema. Rejects with `StoreRefused`, without a change, if the schema cannot be
 * used, and with `StoreInUse` if another server uses it and does not share it.
 */
export async function postgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const opening = new Opening(options);
  try {
    return await opening.store();
  } catch (error) {
    await opening.close();
    throw opening.refusal(error);
  }
}

/** Opens an existing store for inspection. Takes no writer, so it works while a server runs. */
export async function readPostgresStore(options: PostgresStoreOptions): Promise<ReadPostgresStore> {
  const opening = new Opening(options);
  try {
    return await opening.readOnly();
  } catch (error) {
    await opening.close();
    throw opening.refusal(error);
  }
}

/** The connections and parts of one store, while it is opened. */
class Opening {
  readonly #options: PostgresStoreOptions;
  readonly #target: ConnectionOptions;
  readonly #schema: string;
  readonly #tables: Tables;
  readonly #connections: Connection[] = [];
  readonly #beats: HeartbeatThread;
  #index: IndexThread | null = null;

  constructor(options: PostgresStoreOptions) {
    this.#options = options;
    this.#target = connectionOptions(options.url);
    this.#schema = options.schema ?? DEFAULT_SCHEMA;
    this.#tables = tablesIn(this.#schema);
    const { url, prepare = true } = options;
    this.#beats = new HeartbeatThread({ url, schema: this.#schema, prepare });
  }

  async store(): Promise<PostgresStore> {
    const { digest, log, firstIdAt } = this.#options;
    const isShared = this.#options.nodes === 'many';
    const tables = this.#tables;
    const [control, writer, sequencing, reader] = await this.#open(
      'heartbeat',
      'writer',
      'sequencer',
      'reader',
    );
    await this.#checkPooler(control, writer);
    await migrate(this.#schemaParts(control));
    const held = await takeWriter({
      connection: control,
      schema: this.#schema,
      tables,
      shown: this.#target.shown,
      holder: `${hostname()}, process ${process.pid}`,
      isShared,
    });
    const time = isShared ? await StoreTime.read(control) : null;
    const now = (): number => time?.now() ?? this.#options.now();
    const maintenance = this.#connection('maintenance');
    const losses = new LossListeners();
    const sequencer = new Sequencer({ connection: sequencing, tables, digest });
    // Rows of an earlier process get their sequence numbers before the first row of this one.
    await sequencer.sequence();
    let commits = 0;
    const read = this.#readParts(reader, sequencer, isShared ? undefined : () => commits);
    const committer = new BatchCommitter({
      connection: writer,
      tables,
      held,
      digest,
      now,
      unavailable: (error) => queue.rejectWaiting(error),
    });
    const feed = new LedgerFeed({
      reader: read.reader,
      tables,
      sequencer,
      ledger: read.ledger,
      position: () => ({ writer: held.writer, no: committer.last }),
      log,
    });
    const queue: WriteQueue = new WriteQueue({
      committer,
      committed: () => {
        commits += 1;
        feed.committed();
        shared?.committed();
      },
      lost: (error) => losses.report(error),
    });
    const lost = (error: WriterLost): void => {
      queue.stop(error);
      losses.report(error);
    };
    const committed = (): number => committer.no;
    const shared = isShared
      ? new SharedStore(
          this.#nodeTable({ held, calls: read.calls, committed, lost, time }),
          await storeIdIn(control, tables),
          feed,
        )
      : null;
    const heartbeat = isShared
      ? null
      : new Heartbeat({ connection: control, tables, held, log, committed, lost });
    const revisions = new Revisions(tables);
    const tools = new ToolTables(tables, revisions);
    const tokenConnection = isShared ? this.#connection('tokens') : null;
    const connected = tokenConnection === null ? null : { connection: tokenConnection, tables };
    const tokens = connected === null ? undefined : new TokenTable({ ...connected, digest });
    const devices = connected === null ? undefined : new DeviceTable({ ...connected, node: held });
    const stopMaintenance = await startMaintenance({
      connection: maintenance,
      schema: this.#schema,
      tables,
      now,
      firstIdAt,
      log,
      sequence: () => sequencer.sequence(),
      revisions,
      shared: tokens === undefined || devices === undefined ? null : { tools, tokens, devices },
    });
    return new PostgresStore({
      ...read,
      search: new PostgresCallSearch(this.#connection('search'), tables),
      startIndex: (keepCallsMs) => this.#startIndex(keepCallsMs),
      shared,
      revisions,
      tools,
      tokens,
      devices,
      node: held,
      queue,
      feed,
      retention: new Retention({
        connection: maintenance,
        schema: this.#schema,
        tables,
        sequencer,
        firstIdAt,
        now,
      }),
      writeProblem: () => losses.problem ?? queue.problem ?? writer.problem,
      onLost: (listener) => losses.add(listener),
      abandon: () => this.#abandon(),
      close: async () => {
        // A fenced process has no writer to free, and must not wait for a database that may be away.
        const isFenced = losses.problem !== null;
        if (isFenced) this.#abandon();
        await Promise.all([feed.close(), stopMaintenance(), heartbeat?.stop(), this.#index?.close()]);
        if (!isFenced)
          await this.#leave(sequencer, () => shared?.table.leave() ?? freeWriter(control, tables, held));
        await this.close();
      },
    });
  }

  async readOnly(): Promise<ReadPostgresStore> {
    const { digest } = this.#options;
    const tables = this.#tables;
    const [sequencing, reader] = await this.#open('sequencer', 'reader');
    await this.#checkPooler(sequencing, reader);
    await checkSchema(this.#schemaParts(sequencing));
    const sequencer = new Sequencer({ connection: sequencing, tables, digest });
    const { calls, ledger, documents, counts } = this.#readParts(reader, sequencer, undefined);
    return {
      findCall: (id) => calls.find(id),
      ledgerHead: () => ledger.head(),
      readLedger: (...given) => ledger.read(...given),
      readLedgerOrder: (...given) => ledger.order(...given),
      documents: (kind) => documents.all(reader, kind),
      countByState: () => counts.countByState(),
      close: () => this.close(),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#beats, ...this.#connections].map((one) => one.close()));
  }

  #abandon(): void {
    this.#beats.abandon();
    this.#index?.abandon();
    for (const connection of this.#connections) connection.abandon();
  }

  /** Converts an error of opening the store to one for the operator. */
  refusal(error: unknown): unknown {
    if (error instanceof StoreRefused) return error;
    const { shown } = this.#target;
    if (isPreparedStatementLost(error)) return this.#losesStatements();
    const refused = refusalOf(error, { schema: this.#schema, shown });
    if (refused !== error) return refused;
    const isAway = isConnectionLost(error) || error instanceof StorageUnavailable;
    const Refusal = isAway ? StoreUnreachable : StoreRefused;
    return new Refusal(shown, `cannot be opened (${messageOf(error)})`, connectAdvice(error));
  }

  #readParts(reader: Connection, sequencer: Sequencer, commits: (() => number) | undefined): ReadParts {
    const tables = this.#tables;
    // Scans have a connection of their own, so that reads of single calls do not wait for them.
    const scanner = this.#connection('scanner');
    const calls = new CallReader({ reader, tables, ...(commits === undefined ? {} : { commits }) });
    return {
      tables,
      reader,
      calls,
      lists: new CallLists({ reader: scanner, tables, calls, firstIdAt: this.#options.firstIdAt }),
      runs: new RunLists({ reader: scanner, tables }),
      ledger: new LedgerReader({ reader: scanner, tables, sequencer, calls }),
      events: new EventReader({ reader: scanner, tables, sequencer }),
      counts: new CallCounts({ reader, scanner, tables, sequencer }),
      documents: new DocumentTables(tables, new Revisions(tables)),
    };
  }

  #startIndex(keepCallsMs: number | null): RunningIndex {
    const { url, prepare = true, log } = this.#options;
    const settings = { url, schema: this.#schema, prepare, holder: randomUUID(), keepCallsMs };
    const thread = new IndexThread(settings, log);
    this.#index = thread;
    thread.start();
    return { hurry: () => thread.hurry(), stop: () => thread.close() };
  }

  /** Frees the writer, so that the next server starts at once; if that fails, it waits for the end of the lease. */
  async #leave(sequencer: Sequencer, free: () => Promise<unknown>): Promise<void> {
    try {
      await sequencer.sequence();
      await free();
    } catch (error) {
      this.#options.log?.warn('store.writer_not_freed', { error: messageOf(error) });
    }
  }

  #nodeTable(
    parts: Pick<NodeTableParts, 'held' | 'calls' | 'committed' | 'lost' | 'time'>,
  ): PostgresNodeTable {
    return new PostgresNodeTable({
      ...parts,
      beats: this.#beats,
      connection: this.#connection(NODES),
      schema: this.#schema,
      tables: this.#tables,
    });
  }

  /** Before the first write finds out that a pooler loses prepared statements. */
  async #checkPooler(first: Connection, second: Connection): Promise<void> {
    if (this.#options.prepare === false || !first.isPooled) return;
    if (!(await keepsPreparedStatements(first, second))) throw this.#losesStatements();
  }

  #losesStatements(): StoreRefused {
    return new StoreRefused(
      this.#target.shown,
      'is behind a pooler that does not keep prepared statements',
      'set store.prepare to false, or max_prepared_statements in PgBouncer 1.21 or newer',
    );
  }

  #schemaParts(connection: Connection): SchemaParts {
    return { connection, schema: this.#schema, shown: this.#target.shown, storeId: randomUUID() };
  }

  /** Makes connections at once, so that a wrong URL is reported when the store is opened. */
  async #open<const Names extends readonly string[]>(
    ...names: Names
  ): Promise<{ [Name in keyof Names]: Connection }> {
    const connections = names.map((name) => this.#connection(name));
    await Promise.all(connections.map((connection) => connection.open(CONNECT_MS)));
    return connections as { [Name in keyof Names]: Connection };
  }

  /** A connection that is made by its first request. */
  #connection(name: string): Connection {
    // What the planner knows of the values of a search decides how it is executed.
    const prepare = name !== 'search' && this.#options.prepare !== false;
    const { timeouts = {}, replyMs } = limitsOf(name);
    const connection = new Connection({
      options: this.#target,
      name,
      prepare,
      settings: {
        ...(BY_KEY.includes(name) ? WITHOUT_SCANS : {}),
        ...timeouts,
      },
      ...(replyMs === undefined ? {} : { replyMs }),
    });
    this.#connections.push(connection);
    return connection;
  }
}

interface ConnectionLimits {
  readonly timeouts?: Readonly<Record<string, string>>;
  readonly replyMs?: number;
}

function limitsOf(name: string): ConnectionLimits {
  if (name === NODES) return { timeouts: NODES_TIMEOUT, replyMs: NODES_REPLY_MS };
  return SHORT.includes(name) ? { timeouts: SHORT_TIMEOUT, replyMs: SHORT_REPLY_MS } : {};
}
