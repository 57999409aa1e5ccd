import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { messageOf, StorageUnavailable } from '../core/failures.ts';
import { clientConfig, connectEncrypted } from './client.ts';
import type { ConnectionOptions } from './connection-options.ts';
import {
  beginText,
  changeSession,
  LONG_IDLE,
  refuseSession,
  SETTINGS,
  TYPES,
  type SessionTarget,
} from './session.ts';
import { isConnectionLost, isIdleInTransaction, isReadOnly, isReplyMissing } from './sql-errors.ts';

export interface ClientParts {
  readonly options: ConnectionOptions;
  /** Shown in `pg_stat_activity` after the application name. */
  readonly name: string;
  /** Session settings beside `SETTINGS`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A connection on which a reply takes longer is taken for lost. Default: more than the `statement_timeout` of `SETTINGS`. */
  readonly replyMs?: number;
  /** A session that is not accepted is given up, and another one is made. Default: any. */
  readonly target?: SessionTarget;
  /** Called with each new connection before it is used. A rejection closes it, and another one is made. */
  readonly onConnected?: (client: pg.Client, isPooled: boolean) => Promise<void>;
}

/** Requests fail after this time without a connection; the connection is still being made. */
const UNAVAILABLE_AFTER_MS = 5000;
/** How long a reply may take, unless the connection has another limit. */
export const REPLY_MS = 20_000;
/** For this time after the server has ended an idle transaction, the next ones may be idle for longer. */
const SLOW_MS = 10_000;
/** How long a close waits for the server. */
const CLOSE_MS = 1000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** One pipelined client of the driver, which is made again after its connection was lost. */
export class ReconnectingClient {
  readonly #parts: ClientParts;
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

  constructor(parts: ClientParts) {
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

  /** Whether the connection must be dropped and the statement sent again on another one. */
  isLost(error: unknown): boolean {
    return isConnectionLost(error) || (this.#parts.target === 'read-write' && isReadOnly(error));
  }

  /**
   * Whether a write is worth another connection, although this one serves reads: a session that began while the database or the
   * role was read-only stays so, and a pooler may have led it to a standby.
   */
  isOutdated(error: unknown): boolean {
    return this.#parts.target === 'primary' && isReadOnly(error);
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
    const { options, name, replyMs = REPLY_MS, target = 'any' } = this.#parts;
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
      const session = await changeSession(client, this.#settings);
      refuseSession(session, target);
      this.#isPooled = session.isPooled;
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

/** Returns the socket of a client, which the types of the driver do not have. */
export function streamOf(client: pg.Client): Writable {
  return (client as unknown as { readonly connection: { readonly stream: Writable } }).connection.stream;
}
