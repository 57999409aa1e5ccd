import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';

export interface Upgrade {
  readonly socket: Duplex;
  /** What came after the request and is not HTTP any more. */
  readonly head: Buffer;
}

/**
 * Requests that want to become a socket go through the same routes, guard and credentials as any other. Only a handler
 * that takes the upgrade gets the socket; whatever else is answered, the connection ends with the answer.
 */
export class Upgrades {
  readonly #waiting: WeakMap<IncomingMessage, Upgrade> = new WeakMap();

  constructor(app: FastifyInstance) {
    app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const response = new ServerResponse(request);
      // Pipelined behind a request whose response is not out yet: the socket takes no second response, and would throw.
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

  /** Null: it is no upgrade, or was taken before. From here on the taker answers. */
  take(request: IncomingMessage, response: ServerResponse): Upgrade | null {
    const upgrade = this.#waiting.get(request);
    if (upgrade === undefined) return null;
    this.#waiting.delete(request);
    response.detachSocket(upgrade.socket as Socket);
    return upgrade;
  }
}

/** False: the socket still belongs to the response of an earlier request. */
function assigned(response: ServerResponse, socket: Socket): boolean {
  try {
    response.assignSocket(socket);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP_SOCKET_ASSIGNED') return false;
    throw error;
  }
}

/** Made apart: this stays with the socket, and must not keep the request and its answer with it. */
function destroying(socket: Duplex): () => void {
  return () => socket.destroy();
}
