import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_AGAIN_MS = 50;
/** Enough for any answer that is being written; whoever is still sending by then is cut off. */
const PATIENCE_MS = 5000;

/**
 * Lets go of connections while the server closes. Node by itself closes only those that are idle when the close
 * begins. One with a request under way falls idle later, and one on which nothing was ever sent (browsers open them
 * ahead of need) is not idle to Node: both would hold the close for as long as they please.
 */
export class Connections {
  readonly #server: Server;
  readonly #sockets: Set<Socket> = new Set();

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Until the last one is gone. */
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

  #closeUnused(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }
}
