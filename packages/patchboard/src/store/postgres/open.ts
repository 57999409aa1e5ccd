import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { messageOf } from '../../core/failures.ts';
import type { Digest, Log } from '../../core/ports.ts';
import type { RunningIndex } from '../../core/search/call-search.ts';
import type { Connection } from '../../postgres/connection.ts';
import { connectionOptions, type ConnectionOptions } from '../../postgres/connection-options.ts';
import { LeastBusy } from '../../postgres/least-busy.ts';
import { keepsPreparedStatements } from '../../postgres/prepared-statements.ts';
import { BatchCommitter } from './batch-committer.ts';
import { DeviceTable } from './device-table.ts';
import { LedgerFeed } from './feed.ts';
import { Heartbeat } from './heartbeat.ts';
import { HeartbeatThread } from './heartbeat-thread.ts';
import { LossListeners } from './loss-listeners.ts';
import { checkSchema, migrate, storeIdIn, type SchemaParts } from './migrations.ts';
import { PostgresNodeTable, type NodeTableParts } from './node-table.ts';
import { losesStatements, openingRefusal } from './opening-refusal.ts';
import { PostgresStore } from './postgres-store.ts';
import { readingStore, type ReadPostgresStore } from './reading-store.ts';
import { readParts } from './read-parts.ts';
import { Revisions } from './revisions.ts';
import { DEFAULT_SCHEMA, tablesIn, type Tables } from './schema.ts';
import { Sequencer } from './sequencer.ts';
import { SharedStore } from './shared-store.ts';
import { NODES, SEARCH, StoreConnections } from './store-connections.ts';
import { StoreTime } from './store-time.ts';
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
  readonly #connections: StoreConnections;
  readonly #beats: HeartbeatThread;
  #index: IndexThread | null = null;

  constructor(options: PostgresStoreOptions) {
    this.#options = options;
    this.#target = connectionOptions(options.url);
    this.#schema = options.schema ?? DEFAULT_SCHEMA;
    this.#tables = tablesIn(this.#schema);
    const { url, prepare = true } = options;
    this.#connections = new StoreConnections(this.#target, prepare);
    this.#beats = new HeartbeatThread({ url, schema: this.#schema, prepare });
  }

  async store(): Promise<PostgresStore> {
    const { digest, log, firstIdAt } = this.#options;
    const isShared = this.#options.nodes === 'many';
    const tables = this.#tables;
    this.#connections.isWritten = true;
    const [control, writer, sequencing, reader] = await this.#connections.open(
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
    const maintenance = this.#connections.add('maintenance');
    const searches = [this.#connections.add(SEARCH), this.#connections.add(SEARCH)] as const;
    const losses = new LossListeners();
    const sequencer = new Sequencer({ connection: sequencing, tables, digest });
    // Rows of an earlier process get their sequence numbers before the first row of this one.
    await sequencer.sequence();
    let commits = 0;
    const read = readParts({
      reader,
      scanner: this.#connections.add('scanner'),
      tables,
      sequencer,
      firstIdAt,
      ...(isShared ? {} : { commits: () => commits }),
    });
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
    const tokenConnection = isShared ? this.#connections.add('tokens') : null;
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
      search: new PostgresCallSearch(new LeastBusy(searches), tables),
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
    const { digest, firstIdAt } = this.#options;
    const tables = this.#tables;
    const [sequencing, reader] = await this.#connections.open('sequencer', 'reader');
    await this.#checkPooler(sequencing, reader);
    await checkSchema(this.#schemaParts(sequencing));
    const sequencer = new Sequencer({ connection: sequencing, tables, digest });
    const scanner = this.#connections.add('scanner');
    const parts = readParts({ reader, scanner, tables, sequencer, firstIdAt });
    return readingStore(parts, () => this.close());
  }

  async close(): Promise<void> {
    await Promise.all([this.#beats.close(), this.#connections.close()]);
  }

  #abandon(): void {
    this.#beats.abandon();
    this.#index?.abandon();
    this.#connections.abandon();
  }

  /** Converts an error of opening the store to one for the operator. */
  refusal(error: unknown): unknown {
    return openingRefusal(error, { schema: this.#schema, shown: this.#target.shown });
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
      connection: this.#connections.add(NODES),
      schema: this.#schema,
      tables: this.#tables,
    });
  }

  /** Before the first write finds out that a pooler loses prepared statements. */
  async #checkPooler(first: Connection, second: Connection): Promise<void> {
    if (this.#options.prepare === false || !first.isPooled) return;
    if (!(await keepsPreparedStatements(first, second))) throw losesStatements(this.#target.shown);
  }

  #schemaParts(connection: Connection): SchemaParts {
    return { connection, schema: this.#schema, shown: this.#target.shown, storeId: randomUUID() };
  }
}
