import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { resetSocket } from '../../packages/patchboard/test/services/reset-socket.ts';

/** A proxy between a device and its server that can drop all traffic without closing connections. */
export interface DroppingProxy {
  readonly url: string;
  /** Drops all traffic from now on; both ends keep an open socket. */
  drop(direction: 'up' | 'down' | 'both'): void;
  /** Forwards traffic again, over new connections. */
  restore(): void;
  /** Resets every connection. */
  cut(): void;
  /** Number of connections so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** `port` is called for each connection: a restarted server may have another port. */
export async function aDroppingProxy(port: () => number): Promise<DroppingProxy> {
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
    // A FIN is dropped like any other packet.
    near.on('end', () => up && far.end());
    far.on('end', () => down && near.end());
    near.on('close', () => up && far.destroy());
    far.on('close', () => down && near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) resetSocket(socket);
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    drop: (direction) => {
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
