import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between a device and its server, and stops passing things on when told to: the wire is cut, nobody is told. */
export interface SwallowingProxy {
  readonly url: string;
  /** From now on nothing passes that way; both ends still hold a socket that looks alive. */
  swallow(direction: 'up' | 'down' | 'both'): void;
  /** Everything passes again, over new connections. */
  restore(): void;
  /** Resets every connection. */
  cut(): void;
  /** How many connections there have been. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** `port` is asked for each connection: a server that restarts may have another. */
export async function aSwallowingProxy(port: () => number): Promise<SwallowingProxy> {
  const open = new Set<Socket>();
  let up = true;
  let down = true;
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    const far = connect(port(), '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => open.delete(socket));
    }
    near.on('data', (data) => up && far.write(data));
    far.on('data', (data) => down && near.write(data));
    // An end is a packet like any other.
    near.on('end', () => up && far.end());
    far.on('end', () => down && near.end());
    near.on('close', () => up && far.destroy());
    far.on('close', () => down && near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow: (direction) => {
      up &&= direction === 'down';
      down &&= direction === 'up';
    },
    restore: () => {
      up = true;
      down = true;
    },
    cut,
    connections: () => connections,
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
