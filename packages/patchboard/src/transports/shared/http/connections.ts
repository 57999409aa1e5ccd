import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Log } from '../../../core/ports.ts';

export interface ConnectionsOptions {
  /** Connections open at once. */
  readonly max: number;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_AGAIN_MS = 50;
/** Enough for any answer that is being written; whoever is still sending by then is cut off. */
const PATIENCE_MS = 5000;
const WARN_EVERY_MS = 60_000;

/**
 * The connections of a server, and their upper bound. The last free place is kept free by closing the oldest connection
 * that has not shown a credential; if all have, the server refuses the next one.
 */
export class Connections {
  readonly #server: Server;
  readonly #options: ConnectionsOptions;
  readonly #open: Set<Socket> = new Set();
  /** In the order in which they were opened. */
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

  /** Closed to make room, since the start. */
  get closed(): number {
    return this.#closed;
  }

  /** Refused because no room could be made, since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** A request on this connection showed who it is from. */
  identified(socket: Socket): void {
    this.#unidentified.delete(socket);
  }

  /**
   * Lets go of connections while the server closes, until the last one is gone. Node by itself closes only those that
   * are idle when the close begins. One with a request under way falls idle later, and one on which nothing was ever sent
   * (browsers open them ahead of need) is not idle to Node: both would hold the close for as long as they please.
   */
  letGo(): void {
    const timer = setInterval(() => this.#closeUnused(), LOOK_AGAIN_MS);
    const last = setTimeout(() => this.#server.closeAllConnections(), PATIENCE_MS);
    timer.unref();
    last.unref();
    this.#server.once('close', () => {
      clearInterval(timer);
      clearTimeout(last);
    });
  }

  #add(socket: Socket): void {
    // Mounted in another server, this one never listens, and its connections are streams in memory.
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
    // Its close comes later, and by then others may have been opened.
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
