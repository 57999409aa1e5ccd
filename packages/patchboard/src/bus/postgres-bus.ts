import type pg from 'pg';
import type { Bus, NotificationHandler } from '../cluster/bus.ts';
import type { Notification } from '../cluster/notification.ts';
import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import { textArray } from '../postgres/arrays.ts';
import { Connection } from '../postgres/connection.ts';
import type { ConnectionOptions } from '../postgres/connection-options.ts';
import { NotificationReceiver } from './notification-receiver.ts';
import { OutgoingQueue } from './outgoing-queue.ts';

export interface PostgresBusParts {
  /** A direct connection to the database of the store: notifications do not pass a pooler. */
  readonly options: ConnectionOptions;
  readonly clusterId: string;
  readonly writer: number;
  readonly log: Log;
}

const NOTIFY = {
  name: 'notify',
  text: 'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as t(channel, payload)',
};
const PING = { name: 'ping', text: 'select 1' };
/** Finds a half-open connection. */
const PING_EVERY_MS = 2000;
const REPLY_MS = 4000;
/** Notifications that are still queued are sent before the connection is closed, if that takes no longer. */
const CLOSE_MS = 1000;

/**
 * LISTEN and NOTIFY, on a connection of its own: inside a transaction that writes, NOTIFY takes a lock of the whole server until
 * the commit.
 */
export class PostgresBus implements Bus {
  readonly #parts: PostgresBusParts;
  readonly #receiver: NotificationReceiver;
  readonly #queue: OutgoingQueue;
  readonly #connection: Connection;
  readonly #ping: NodeJS.Timeout;
  #connections = 0;
  #flush: NodeJS.Immediate | null = null;
  #sending: Promise<void> | null = null;
  #hasReported = { pooled: false, disconnected: false, refused: false };

  constructor(parts: PostgresBusParts) {
    const { options, writer, log } = parts;
    this.#parts = parts;
    this.#receiver = new NotificationReceiver(writer, log);
    this.#queue = new OutgoingQueue(writer);
    this.#connection = new Connection({
      options,
      name: 'bus',
      prepare: false,
      // A notification is worth no fsync.
      settings: { synchronous_commit: 'off' },
      replyMs: REPLY_MS,
      target: 'read-write',
      onConnected: (client, isPooled) => this.#connected(client, isPooled),
    });
    this.#connect();
    this.#ping = setInterval(() => this.#check(), PING_EVERY_MS);
    this.#ping.unref();
  }

  get isConnected(): boolean {
    return this.#connection.isConnected && !this.#connection.isPooled;
  }

  get connections(): number {
    return this.#connections;
  }

  send(to: number | 'all', notification: Notification): void {
    if (this.#connection.isClosed) return;
    this.#queue.add(to, notification);
    // All notifications of this turn become one statement.
    this.#flush ??= setImmediate(() => {
      this.#flush = null;
      this.#sending ??= this.#sendQueued().finally(() => (this.#sending = null));
    });
  }

  listen(handle: NotificationHandler): () => void {
    return this.#receiver.listen(handle);
  }

  async close(): Promise<void> {
    clearInterval(this.#ping);
    if (this.#flush !== null) clearImmediate(this.#flush);
    if (this.#connection.isConnected) {
      const limit = setTimeout(() => void this.#connection.close(), CLOSE_MS);
      await this.#sending;
      await this.#sendQueued();
      clearTimeout(limit);
    }
    await this.#connection.close();
  }

  async #connected(client: pg.Client, isPooled: boolean): Promise<void> {
    if (isPooled) {
      this.#reportPooled();
      return;
    }
    const { clusterId, writer, log } = this.#parts;
    client.on('notification', ({ payload }) => this.#receiver.receive(payload ?? ''));
    await client.query(`listen "${channelOf(clusterId, 'all')}"; listen "${channelOf(clusterId, writer)}"`);
    this.#connections += 1;
    log.info('bus.connected', { bus: 'postgres', dropped: this.#queue.takeDropped() });
    this.#hasReported.disconnected = false;
  }

  /** One statement at a time. What is sent when the connection breaks may be lost: it is not sent twice. */
  async #sendQueued(): Promise<void> {
    while (this.#queue.size > 0) {
      let client;
      try {
        client = await this.#connection.client();
      } catch {
        return; // Without a connection for some time: `#check` sends again.
      }
      const sent = this.#queue.take();
      const channels = sent.map(({ to }) => channelOf(this.#parts.clusterId, to));
      try {
        await this.#connection.send(client, NOTIFY, [
          textArray(channels),
          textArray(sent.map(({ text }) => text)),
        ]);
        this.#hasReported.refused = false;
      } catch (error) {
        if (this.#connection.isLost(error)) this.#connection.drop(client, error);
        else this.#reportRefused(error);
      }
    }
  }

  #connect(): void {
    this.#connection.client().catch(() => {}); // It goes on connecting; `#check` reports the problem.
  }

  #check(): void {
    const { problem } = this.#connection;
    if (problem !== null && !this.#hasReported.disconnected) {
      this.#parts.log.warn('bus.disconnected', { bus: 'postgres', message: problem });
      this.#hasReported.disconnected = true;
    }
    if (!this.#connection.isConnected) return this.#connect();
    this.#connection.query(PING).catch(() => {}); // A lost connection is made again by the query itself.
    if (this.#queue.size > 0) this.#sending ??= this.#sendQueued().finally(() => (this.#sending = null));
  }

  #reportPooled(): void {
    if (this.#hasReported.pooled) return;
    this.#hasReported.pooled = true;
    const message =
      'a pooler is in front of PostgreSQL, so this node receives no notifications and asks the store more often: ' +
      'set DATABASE_LISTEN_URL to a direct URL of the same database, or NATS_URL';
    this.#parts.log.warn('bus.pooled', { message });
  }

  #reportRefused(error: unknown): void {
    if (this.#hasReported.refused) return;
    this.#hasReported.refused = true;
    this.#parts.log.warn('bus.refused', { bus: 'postgres', message: messageOf(error) });
  }
}

/** At most 63 bytes, the longest name in PostgreSQL: the id of a store has 36. */
function channelOf(clusterId: string, to: number | 'all'): string {
  return `pb_${clusterId}_${to}`;
}
