import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { messageOf, StorageUnavailable } from '../core/failures.ts';
import { allInOrder } from './all-in-order.ts';
import { clientConfig, connectEncrypted } from './client.ts';
import type { ConnectionOptions } from './connection-options.ts';
import { beginText, changeSession, LONG_IDLE, LONG_TEXT, SETTINGS, TYPES } from './session.ts';
import {
  isConnectionLost,
  isIdleInTransaction,
  isReadOnly,
  isReplyMissing,
  isTimeout,
  readOnlySession,
} from './sql-errors.ts';

/** A statement with fixed text. Prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Rows by column name; `bigint` columns are numbers, `bytea` columns are buffers. */
export interface QueryRows<Row> {
  readonly rows: readonly Row[];
  /** The number of rows that the statement returned or changed. */
  readonly count: number;
}

export interface Queryable {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<QueryRows<Row>>;
}

export interface Transaction extends Queryable {
  /** Runs statements without parameters, separated by semicolons. */
  run(text: string): Promise<void>;
}

/** A transaction on a connection that may have short time limits. */
export interface LimitedTransaction extends Transaction {
  /** Lifts the limits for the statements that follow: they may change many rows. `ms`: more than the usual limit of a statement. */
  allowLong(ms?: number): Promise<void>;
  /**
   * Sends the last statement together with the commit. A process that is paused cannot stop between the two and keep the
   * locks of the statement.
   */
  commitWith(statement: Statement, values: readonly unknown[]): Promise<void>;
}

export interface ConnectionParts {
  readonly options: ConnectionOptions;
  /** Shown in `pg_stat_activity` after the application name. */
  readonly name: string;
  /** False: statements are not prepared, for poolers that give each transaction another connection. */
  readonly prepare: boolean;
  /** Session settings beside `SETTINGS`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A connection on which a reply takes longer is taken for lost. Default: more than the `statement_timeout` of `SETTINGS`. */
  readonly replyMs?: number;
  /**
   * Whether a session that cannot write is given up, as with `target_session_attrs=read-write` of libpq: after a failover the
   * address may lead to the former primary, which is a standby now. Default: false.
   */
  readonly mustWrite?: boolean;
  /** Called with each new connection before it is used. A rejection closes it, and another one is made. */
  readonly onConnected?: (client: pg.Client, isPooled: boolean) => Promise<void>;
}

/** Requests fail after this time without a connection; the connection is still being made. */
const UNAVAILABLE_AFTER_MS = 5000;
/** A statement that ends its connection each time is not sent more often. */
const ATTEMPTS = 5;
const REPLY_MS = 20_000;
/** The server ends a statement before this process gives the connection up. */
const REPLY_MARGIN_MS = 5000;
/** For this time after the server has ended an idle transaction, the next ones may be idle for longer. */
const SLOW_MS = 10_000;
/** How long a close waits for the server. */
const CLOSE_MS = 1000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** One pipelined connection that is made again after it was lost. */
export class Connection implements Queryable {
  readonly #parts: ConnectionParts;
  #client: pg.Client | null = null;
  #connecting: Promise<pg.Client> | null = null;
  /** Why there is no connection, and since when (monotonic milliseconds). */
  #problem: { readonly since: number; text: string } | null = null;
  /** Clients that are connected or being connected. */
  readonly #clients: Set<pg.Client> = new Set();
  #isClosed = false;
  #isPooled = false;
  /** When the server last ended a transaction because it was idle, monotonic. */
  #idleAt = -Infinity;
  /** Resolves when the transactions that were begun so far have ended. Other statements must not become part of them. */
  #transactions: Promise<void> | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** Why there is no connection for some time; null while there is one. */
  get problem(): string | null {
    return this.#problem !== null && this.#isOverdue() ? this.#problem.text : null;
  }

  /** Whether a pooler is between this process and the server. Known after the first connection. */
  get isPooled(): boolean {
    return this.#isPooled;
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Makes the first connection. Rejects with the reason if the server refuses it, or cannot be reached within `ms`. */
  async open(ms: number): Promise<void> {
    const end = performance.now() + ms;
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(LONGEST_PAUSE_MS, wait * 2)) {
      try {
        this.#client = await this.#connect();
        return;
      } catch (error) {
        if (!isConnectionLost(error) || performance.now() + wait > end) throw error;
      }
      await pause(wait);
    }
  }

  /**
   * Sends a read, or a write that may be repeated. Repeats it after a lost connection. Rejects with `StorageUnavailable` if
   * there is no connection for some time.
   */
  async query<Row extends object>(
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<QueryRows<Row>> {
    for (let attempt = 1; ; attempt += 1) {
      while (this.#transactions !== null) await this.#transactions;
      const client = await this.client();
      try {
        return await this.send<Row>(client, statement, values);
      } catch (error) {
        if (isTimeout(error)) throw timedOut(error);
        if (!this.isLost(error)) throw error;
        this.drop(client, error);
        if (attempt === ATTEMPTS) throw lostAgain(error);
      }
    }
  }

  /**
   * Runs `work` in a transaction, one at a time. After a lost connection it is repeated, also if it may have committed.
   */
  async transaction<T>(work: (transaction: LimitedTransaction) => Promise<T>): Promise<T> {
    const running = (this.#transactions ?? Promise.resolve()).then(() => this.#run(work));
    const ended: Promise<void> = running.then(
      () => this.#ended(ended),
      () => this.#ended(ended),
    );
    this.#transactions = ended;
    return await running;
  }

  #ended(transaction: Promise<void>): void {
    if (this.#transactions === transaction) this.#transactions = null;
  }

  async #run<T>(work: (transaction: LimitedTransaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const client = await this.client();
      let replyMs: number | undefined;
      let isCommitted = false;
      const transaction: LimitedTransaction = {
        query: (statement, values = []) => this.send(client, statement, values, replyMs),
        run: async (text) => void (await client.query({ text, ...replyLimit(replyMs) })),
        allowLong: async (ms) => {
          await client.query(ms === undefined ? LONG_TEXT : `set local statement_timeout = ${ms}`);
          replyMs = ms === undefined ? REPLY_MS : ms + REPLY_MARGIN_MS;
        },
        commitWith: async (statement, values) => {
          isCommitted = true;
          const sent = this.inOneWrite(client, () => [
            this.send(client, statement, values, replyMs),
            commit(client, replyMs),
          ]);
          await allInOrder(sent);
        },
      };
      try {
        await client.query(this.beginText);
        const result = await work(transaction);
        if (!isCommitted) await commit(client, replyMs);
        return result;
      } catch (error) {
        if (!this.isLost(error)) {
          await client.query('rollback').catch((failed: unknown) => this.drop(client, failed));
          throw error;
        }
        this.drop(client, error);
        if (attempt === ATTEMPTS) throw lostAgain(error);
      }
    }
  }

  /** Whether the connection must be dropped and the statement sent again on another one. */
  isLost(error: unknown): boolean {
    return isConnectionLost(error) || (this.#parts.mustWrite === true && isReadOnly(error));
  }

  /**
   * Begins a transaction, with the settings that a pooled connection does not keep. A process whose event loop is slow would
   * repeat a transaction with a short limit for ever, so that it gets a longer one.
   */
  get beginText(): string {
    const isSlow = performance.now() - this.#idleAt < SLOW_MS;
    return beginText({ ...(this.#isPooled ? this.#settings : {}), ...(isSlow ? LONG_IDLE : {}) });
  }

  /** Returns the connected client; rejects with `StorageUnavailable` if there is none for some time. */
  async client(): Promise<pg.Client> {
    if (this.#client !== null) return this.#client;
    if (this.#isClosed) throw new StorageUnavailable('the store is closed');
    this.#problem ??= { since: performance.now(), text: 'not connected' };
    if (this.#isOverdue()) {
      this.#reconnect().catch(() => {}); // It fails only if the connection is closed meanwhile.
      throw this.#unavailable();
    }
    const left = this.#problem.since + UNAVAILABLE_AFTER_MS - performance.now();
    return await new Promise<pg.Client>((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#unavailable()), left);
      this.#reconnect().then(
        (client) => {
          clearTimeout(timer);
          resolve(client);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error as Error);
        },
      );
    });
  }

  /** Sends a statement once. The rows are in the order of the result. `replyMs`: other than that of the connection. */
  async send<Row extends object>(
    client: pg.Client,
    { name, text }: Statement,
    values: readonly unknown[],
    replyMs?: number,
  ): Promise<QueryRows<Row>> {
    const prepared = this.#parts.prepare ? { name } : {};
    const given = { text, values: [...values], ...prepared, ...replyLimit(replyMs) };
    const { rows, rowCount } = await client.query<Row>(given);
    return { rows, count: rowCount ?? 0 };
  }

  /** Runs `work`, and sends the statements that it sends at once in one write: each write costs both sides a system call. */
  inOneWrite<T>(client: pg.Client, work: () => T): T {
    const stream = streamOf(client);
    stream.cork();
    try {
      return work();
    } finally {
      stream.uncork();
    }
  }

  /** Gives up a broken connection and makes another, without waiting for a request: `problem` must end by itself. */
  drop(client: pg.Client, error: unknown): void {
    if (isIdleInTransaction(error)) this.#idleAt = performance.now();
    if (this.#client === client) {
      this.#client = null;
      // Requests have waited for the reply already, so only the rest of their time is left for another connection.
      const { replyMs = REPLY_MS } = this.#parts;
      const since = performance.now() - (isReplyMissing(error) ? replyMs : 0);
      this.#problem ??= { since, text: messageOf(error) };
      if (!this.#isClosed) this.#reconnect().catch(() => {}); // It fails only if the connection is closed meanwhile.
    }
    client.end().catch(() => {}); // It is broken already.
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client ?? (await this.#connecting?.catch(() => null)) ?? null;
    this.#client = null;
    if (client === null) return;
    // Behind a silent link the server does not close its side.
    const silent = setTimeout(() => streamOf(client).destroy(), CLOSE_MS);
    await client.end().catch(() => {}); // Closing a broken connection fails, and it is closed then.
    clearTimeout(silent);
  }

  /** Ends the connection now, also one being made. Statements in progress reject, and so does every later one. */
  abandon(): void {
    this.#isClosed = true;
    for (const client of this.#clients) streamOf(client).destroy();
  }

  #reconnect(): Promise<pg.Client> {
    this.#connecting ??= this.#connectAgain().finally(() => (this.#connecting = null));
    return this.#connecting;
  }

  async #connectAgain(): Promise<pg.Client> {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(LONGEST_PAUSE_MS, wait * 2)) {
      if (this.#isClosed) throw new StorageUnavailable('the store is closed');
      try {
        const client = await this.#connect();
        if (this.#isClosed) await client.end();
        else this.#client = client;
        this.#problem = null;
        return client;
      } catch (error) {
        if (this.#problem !== null) this.#problem.text = messageOf(error);
        await pause(wait);
      }
    }
  }

  async #connect(): Promise<pg.Client> {
    return await connectEncrypted(this.#parts.options, (ssl) => this.#connectWith(ssl));
  }

  async #connectWith(ssl: ConnectionOptions['encryption'][number]): Promise<pg.Client> {
    const { options, name, replyMs = REPLY_MS } = this.#parts;
    const own = { types: TYPES, pipeline: true, query_timeout: replyMs };
    const config = { ...clientConfig(options, name, ssl), ...own };
    const client = new pg.Client(config);
    this.#clients.add(client);
    client.on('error', (error) => this.drop(client, error));
    client.on('end', () => {
      this.#clients.delete(client);
      this.drop(client, new Error('the server closed the connection'));
    });
    try {
      await client.connect();
      const { isPooled, isReadOnly: cannotWrite } = await changeSession(client, this.#settings);
      if (cannotWrite && this.#parts.mustWrite === true) throw readOnlySession();
      this.#isPooled = isPooled;
      await this.#parts.onConnected?.(client, this.#isPooled);
      return client;
    } catch (error) {
      client.end().catch(() => {}); // It was never open, or is broken.
      throw error;
    }
  }

  get #settings(): Readonly<Record<string, string>> {
    return { ...SETTINGS, ...this.#parts.settings };
  }

  #isOverdue(): boolean {
    return this.#problem !== null && performance.now() - this.#problem.since >= UNAVAILABLE_AFTER_MS;
  }

  #unavailable(): StorageUnavailable {
    const { host, port } = this.#parts.options;
    return new StorageUnavailable(
      `PostgreSQL at ${host}:${port} cannot be reached: ${this.#problem?.text ?? 'not connected'}`,
    );
  }
}

/** The driver has the option for single queries too, but its types do not. */
function replyLimit(replyMs: number | undefined): object {
  return replyMs === undefined ? {} : { query_timeout: replyMs };
}

async function commit(client: pg.Client, replyMs: number | undefined): Promise<void> {
  await client.query({ text: 'commit', ...replyLimit(replyMs) });
}

function streamOf(client: pg.Client): Writable {
  return (client as unknown as { readonly connection: { readonly stream: Writable } }).connection.stream;
}

/** Converts the error of a statement that waited for a lock, or took too long. */
export function timedOut(error: unknown): StorageUnavailable {
  return new StorageUnavailable(
    `PostgreSQL did not finish a statement in time (${messageOf(error)}): another session may hold a lock`,
  );
}

function lostAgain(error: unknown): StorageUnavailable {
  return new StorageUnavailable(
    `the connection to PostgreSQL was lost ${ATTEMPTS} times: ${messageOf(error)}`,
  );
}
