import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';

export interface Upgrade {
  readonly socket: Duplex;
  /** Bytes read after the HTTP request. */
  readonly head: Buffer;
}

/**
 * Routes upgrade requests through the same guard, authentication and routes as all others. Only a handler that takes the
 * upgrade gets the socket; after any other response the connection is closed.
 */
export class Upgrades {
  readonly #waiting: WeakMap<IncomingMessage, Upgrade> = new WeakMap();

  constructor(app: FastifyInstance) {
    app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const response = new ServerResponse(request);
      // Pipelined behind a request whose response is not finished: the socket accepts no second response.
      if (!assigned(response, socket as Socket)) {
        socket.destroy();
        return;
      }
      this.#waiting.set(request, { socket, head });
      response.shouldKeepAlive = false;
      response.once('finish', () => {
        response.detachSocket(socket as Socket);
        (socket as Socket).destroySoon();
      });
      socket.on('error', destroying(socket));
      app.routing(request, response);
    });
  }

  /** Returns null if the request is no upgrade or was taken before. From here on the caller owns the socket. */
  take(request: IncomingMessage, response: ServerResponse): Upgrade | null {
    const upgrade = this.#waiting.get(request);
    if (upgrade === undefined) return null;
    this.#waiting.delete(request);
    response.detachSocket(upgrade.socket as Socket);
    return upgrade;
  }
}

/** Returns false if the socket still belongs to the response of an earlier request. */
function assigned(response: ServerResponse, socket: Socket): boolean {
  try {
    response.assignSocket(socket);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP_SOCKET_ASSIGNED') return false;
    throw error;
  }
}

/** A separate function: the listener lives as long as the socket, and must not retain the request and response. */
function destroying(socket: Duplex): () => void {
  return () => socket.destroy();
}
