import { Connection } from '../../postgres/connection.ts';
import type { ConnectionOptions } from '../../postgres/connection-options.ts';
import type { SessionTarget } from '../../postgres/session.ts';

/**
 * The connection for takeovers and polls: behind a silent link another one must be found before the lease of a peer ends.
 * Transactions that change many rows lift the limits.
 */
export const NODES = 'nodes';
const NODES_TIMEOUT = { statement_timeout: '2500ms', lock_timeout: '2s' };
const NODES_REPLY_MS = 3000;

export const SEARCH = 'search';

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

/**
 * Connections whose transactions lock rows that other nodes wait for. A paused node must lose these locks early enough for
 * another node to end an overdue call within its bound; a node that was only slow repeats the transaction.
 */
const LOCKING: readonly string[] = ['writer', 'sequencer', 'tokens', NODES];
const LOCKING_TIMEOUT = { idle_in_transaction_session_timeout: '500ms' };

/**
 * Connections that only read, or that do without their writes: they serve on while the primary accepts no writes, as with a full disk.
 * On a standby they would read an earlier state.
 */
const READING: readonly string[] = ['reader', 'scanner', 'sequencer', SEARCH];

/** How long a start waits for a database that cannot be reached. */
const CONNECT_MS = 10_000;

/** The connections of one store, by what they are used for. */
export class StoreConnections {
  /** Whether a server writes the store. One that is only read may be on a standby. */
  isWritten = false;
  readonly #options: ConnectionOptions;
  readonly #prepare: boolean;
  readonly #connections: Connection[] = [];

  /** `prepare`: see `PostgresStoreOptions`. */
  constructor(options: ConnectionOptions, prepare: boolean) {
    this.#options = options;
    this.#prepare = prepare;
  }

  /** Makes connections at once, so that a wrong URL is reported when the store is opened. */
  async open<const Names extends readonly string[]>(
    ...names: Names
  ): Promise<{ [Name in keyof Names]: Connection }> {
    const connections = names.map((name) => this.add(name));
    await Promise.all(connections.map((connection) => connection.open(CONNECT_MS)));
    return connections as { [Name in keyof Names]: Connection };
  }

  /** A connection that is made by its first request. */
  add(name: string): Connection {
    // The planner must see the values of a search: a prepared statement would get one plan for all values.
    const prepare = name !== SEARCH && this.#prepare;
    const { timeouts = {}, replyMs } = limitsOf(name);
    const connection = new Connection({
      options: this.#options,
      name,
      prepare,
      target: this.isWritten ? targetOf(name) : 'any',
      settings: {
        ...(BY_KEY.includes(name) ? WITHOUT_SCANS : {}),
        ...(LOCKING.includes(name) ? LOCKING_TIMEOUT : {}),
        ...timeouts,
      },
      ...(replyMs === undefined ? {} : { replyMs }),
    });
    this.#connections.push(connection);
    return connection;
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  abandon(): void {
    for (const connection of this.#connections) connection.abandon();
  }
}

interface ConnectionLimits {
  readonly timeouts?: Readonly<Record<string, string>>;
  readonly replyMs?: number;
}

function targetOf(name: string): SessionTarget {
  return READING.includes(name) ? 'primary' : 'read-write';
}

function limitsOf(name: string): ConnectionLimits {
  if (name === NODES) return { timeouts: NODES_TIMEOUT, replyMs: NODES_REPLY_MS };
  return SHORT.includes(name) ? { timeouts: SHORT_TIMEOUT, replyMs: SHORT_REPLY_MS } : {};
}
