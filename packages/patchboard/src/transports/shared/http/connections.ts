import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Log } from '../../../core/ports.ts';

export interface ConnectionsOptions {
  /** Connections open at once. */
  readonly max: number;
  readonly clock: Clock;
  readonly log: Log;
}

const DRAIN_CHECK_MS = 50;
/** Connections still open after this are destroyed. */
const DRAIN_TIMEOUT_MS = 5000;
const WARN_EVERY_MS = 60_000;

/**
 * Bounds the connections of a server. When only one more fits, the oldest connection that has not authenticated is closed;
 * if all have authenticated, the server refuses new connections at the limit.
 */
export class Connections {
  readonly #server: Server;
  readonly #options: ConnectionsOptions;
  readonly #open: Set<Socket> = new Set();
  /** Connections without an authenticated request, oldest first. */
  readonly #unidentified: Set<Socket> = new Set();
  #closed = 0;
  #refused = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(server: Server, options: ConnectionsOptions) {
    this.#server = server;
    this.#options = options;
    server.maxConnections = options.max;
    server.on('connection', (socket) => this.#add(socket));
    server.on('drop', () => {
      this.#refused += 1;
      this.#warn();
    });
  }

  get open(): number {
    return this.#open.size;
  }

  /** Number of connections closed to stay below the limit, since the start. */
  get closed(): number {
    return this.#closed;
  }

  /** Number of connections refused at the limit, since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Marks the connection as authenticated. */
  identified(socket: Socket): void {
    this.#unidentified.delete(socket);
  }

  /**
   * Closes connections as they become idle while the server closes. Node closes only those that are idle when the close
   * begins: a connection with a request in progress becomes idle later, and one that never sent a byte (browsers open
   * them in advance) never counts as idle. Either would delay the close without bound.
   */
  drain(): void {
    const timer = setInterval(() => this.#closeUnused(), DRAIN_CHECK_MS);
    const last = setTimeout(() => this.#server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    timer.unref();
    last.unref();
    this.#server.once('close', () => {
      clearInterval(timer);
      clearTimeout(last);
    });
  }

  #add(socket: Socket): void {
    // Mounted in another server, this one never listens; its connections are in-memory streams.
    if (this.#server.listening && this.#open.size >= this.#options.max - 1) this.#closeOldest();
    this.#open.add(socket);
    this.#unidentified.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#unidentified.delete(socket);
    });
  }

  #closeOldest(): void {
    const [oldest] = this.#unidentified;
    if (oldest === undefined) return;
    // Deleted now: its `close` event comes later, and other connections may open before.
    this.#open.delete(oldest);
    this.#unidentified.delete(oldest);
    oldest.destroy();
    this.#closed += 1;
    this.#warn();
  }

  #warn(): void {
    const { clock, log, max } = this.#options;
    const now = clock.now();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    log.warn('server.connections_full', { limit: max, closed: this.#closed, refused: this.#refused });
  }

  #closeUnused(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }
}
