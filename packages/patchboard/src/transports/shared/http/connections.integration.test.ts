import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connections } from './connections.ts';

const MAX = 3;

describe('Connections', () => {
  let server: Server;
  let connections: Connections;
  const warnings: unknown[] = [];
  const opened: Socket[] = [];

  beforeEach(async () => {
    warnings.length = 0;
    server = createServer((request, response) => {
      if (request.headers.authorization !== undefined) connections.identified(request.socket);
      response.end('hello');
    });
    connections = new Connections(server, {
      max: MAX,
      clock: { now: () => 0, elapsed: () => 0, after: () => () => {}, turn: () => Promise.resolve() },
      log: { info: () => {}, warn: (...warning) => warnings.push(warning), error: () => {} },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  async function open(): Promise<Socket> {
    const accepted = new Promise<void>((resolve) => {
      const done = (): void => {
        server.off('connection', done).off('drop', done);
        resolve();
      };
      server.once('connection', done).once('drop', done);
    });
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    opened.push(socket);
    socket.on('error', () => {});
    await accepted;
    return socket;
  }

  async function openIdentified(): Promise<Socket> {
    const socket = await open();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer a\r\n\r\n');
    await once(socket, 'data');
    return socket;
  }

  it('closes the oldest unauthenticated connection before the limit is reached', async () => {
    const known = await openIdentified();
    const first = await open();
    const closed = once(first, 'close');
    const second = await open();
    await closed;
    expect([known.destroyed, second.destroyed]).toEqual([false, false]);
    expect(connections).toMatchObject({ open: 2, closed: 1, refused: 0 });
  });

  it('refuses a connection at the limit if all open ones are authenticated, until one of them closes', async () => {
    const known = [await openIdentified(), await openIdentified(), await openIdentified()];
    const refused = await open();
    await once(refused, 'close');
    expect(connections).toMatchObject({ open: 3, closed: 0, refused: 1 });
    expect(warnings).toEqual([['server.connections_full', { limit: MAX, closed: 0, refused: 1 }]]);
    known[0]?.destroy();
    await expect.poll(() => connections.open).toBe(2);
    await openIdentified();
    expect(connections).toMatchObject({ open: 3, refused: 1 });
  });

  it('logs at most one warning a minute', async () => {
    for (let count = 0; count < 10; count += 1) await open();
    expect(connections.closed + connections.refused).toBeGreaterThan(1);
    expect(warnings).toHaveLength(1);
  });
});
