import {
  connect,
  PermissionViolationError,
  type ConnectionOptions,
  type NatsConnection,
} from '@nats-io/transport-node';
import type { Bus, NotificationHandler } from '../cluster/bus.ts';
import type { Notification } from '../cluster/notification.ts';
import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import type { NatsOptions } from './nats-options.ts';
import { NotificationReceiver } from './notification-receiver.ts';
import { OutgoingQueue } from './outgoing-queue.ts';

export interface NatsBusParts {
  readonly options: NatsOptions;
  readonly clusterId: string;
  readonly writer: number;
  readonly log: Log;
}

const CONNECT_MS = 5000;
/** Finds a half-open connection, after two pings without a reply. */
const PING_EVERY_MS = 2000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;
/** Notifications that are still queued are sent before the connection is closed, if that takes no longer. */
const CLOSE_MS = 1000;

/**
 * Core NATS: no stream, no persistence. The client's own reconnecting is off, because it ends after some errors: this class
 * connects again for ever.
 */
export class NatsBus implements Bus {
  readonly #parts: NatsBusParts;
  readonly #receiver: NotificationReceiver;
  readonly #queue: OutgoingQueue;
  #connection: NatsConnection | null = null;
  #connections = 0;
  #flush: NodeJS.Immediate | null = null;
  #isClosed = false;
  /** The user may not use the subjects. */
  #isRefused = false;
  #hasReportedDisconnected = false;
  #hasReportedRefused = false;
  /** Ends the pause between two attempts to connect. */
  #wake: () => void = () => {};
  readonly #running: Promise<void>;

  constructor(parts: NatsBusParts) {
    this.#parts = parts;
    this.#receiver = new NotificationReceiver(parts.writer, parts.log);
    this.#queue = new OutgoingQueue(parts.writer);
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#connection !== null && !this.#isRefused;
  }

  get connections(): number {
    return this.#connections;
  }

  send(to: number | 'all', notification: Notification): void {
    if (this.#isClosed) return;
    this.#queue.add(to, notification);
    this.#flush ??= setImmediate(() => {
      this.#flush = null;
      this.#sendQueued();
    });
  }

  listen(handle: NotificationHandler): () => void {
    return this.#receiver.listen(handle);
  }

  async close(): Promise<void> {
    if (this.#flush !== null) clearImmediate(this.#flush);
    this.#sendQueued();
    this.#isClosed = true;
    this.#wake();
    const connection = this.#connection;
    if (connection !== null) {
      const limit = setTimeout(() => void connection.close(), CLOSE_MS);
      await flushed(connection);
      clearTimeout(limit);
      await connection.close();
    }
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !this.#isClosed; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      const began = performance.now();
      try {
        await this.#use(await connect(this.#connectionOptions));
      } catch (error) {
        this.#reportDisconnected(messageOf(error));
      }
      // The pause stays long for a server that accepts connections and closes them at once.
      if (performance.now() - began > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
      if (!this.#isClosed) await this.#pause(pause);
    }
  }

  /** Resolves when the connection is lost. */
  async #use(connection: NatsConnection): Promise<void> {
    const { clusterId, writer, log } = this.#parts;
    const watching = this.#watchErrors(connection);
    for (const to of ['all', writer] as const)
      connection.subscribe(subjectOf(clusterId, to), {
        callback: (error, message) => {
          if (error === null) this.#receiver.receive(message.string());
        },
      });
    // Once the server replies it has the subscriptions, or has refused them.
    await flushed(connection);
    if (this.#isClosed) await connection.close();
    if (!connection.isClosed()) {
      this.#connection = connection;
      this.#connections += 1;
      log.info('bus.connected', { bus: 'nats', dropped: this.#queue.takeDropped() });
      this.#hasReportedDisconnected = false;
      this.#sendQueued();
    }
    const error = await connection.closed();
    this.#connection = null;
    await watching;
    this.#reportDisconnected(error === undefined ? 'the connection was closed' : messageOf(error));
  }

  /** The server reports a subject that the user may not use as an error of the connection, which stays open. */
  async #watchErrors(connection: NatsConnection): Promise<void> {
    this.#isRefused = false;
    for await (const status of connection.status()) {
      if (status.type !== 'error') continue;
      this.#isRefused ||= status.error instanceof PermissionViolationError;
      if (this.#hasReportedRefused) continue;
      this.#hasReportedRefused = true;
      this.#parts.log.warn('bus.refused', { bus: 'nats', message: messageOf(status.error) });
    }
  }

  #sendQueued(): void {
    if (this.#connection === null) return;
    for (const { to, text } of this.#queue.take()) {
      try {
        this.#connection.publish(subjectOf(this.#parts.clusterId, to), text);
      } catch (error) {
        // The connection is being closed: what is queued is lost.
        this.#reportDisconnected(messageOf(error));
        return;
      }
    }
  }

  get #connectionOptions(): ConnectionOptions {
    const { servers, user, password, token, requiresTls, tls } = this.#parts.options;
    return {
      servers: [...servers],
      name: `patchboard ${this.#parts.writer}`,
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { pass: password }),
      ...(token === undefined ? {} : { token }),
      ...(requiresTls ? { tls: { ...tls } } : {}),
      noEcho: true,
      reconnect: false,
      timeout: CONNECT_MS,
      pingInterval: PING_EVERY_MS,
      maxPingOut: 2,
    };
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Once per outage. */
  #reportDisconnected(message: string): void {
    if (this.#hasReportedDisconnected || this.#isClosed) return;
    this.#hasReportedDisconnected = true;
    const { log, options } = this.#parts;
    log.warn('bus.disconnected', { bus: 'nats', url: options.shown, message });
  }
}

/** Resolves when the server has replied, or the connection is closed: a flush of a lost connection never settles. */
async function flushed(connection: NatsConnection): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => resolve();
    connection.flush().then(end, end);
    connection.closed().then(end, end);
  });
}

function subjectOf(clusterId: string, to: number | 'all'): string {
  return `pb.${clusterId}.${to}`;
}
