import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy on loopback that can become silent: connections stay open, and nothing arrives any more. */
export interface ByteProxy {
  readonly port: number;
  /** Discards all bytes on every connection, also on new ones, until `pass`. */
  freeze(): void;
  /** Resets the connections, of which bytes were discarded. New ones are forwarded. */
  pass(): void;
  close(): Promise<void>;
}

/** `port`: of the server on loopback. */
export async function startByteProxy(port: number): Promise<ByteProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const forward = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay();
    from.on('data', (bytes) => void (isFrozen || to.write(bytes)));
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on('error', () => to.destroy());
  };
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    forward(client, server);
    forward(server, client);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const cut = (): void => sockets.forEach((socket) => socket.resetAndDestroy());
  return {
    port: (listener.address() as AddressInfo).port,
    freeze: () => {
      isFrozen = true;
    },
    pass: () => {
      isFrozen = false;
      cut();
    },
    close: async () => {
      listener.close();
      cut();
      await once(listener, 'close');
    },
  };
}
