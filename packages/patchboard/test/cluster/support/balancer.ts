import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export interface Balancer {
  readonly url: string;
  /** The `Host` of requests to it. */
  readonly host: string;
  /** Adds a node, by its URL. Resolves when it is ready. */
  add(url: string): Promise<void>;
}

const CHECK_EVERY_MS = 50;

/** Forwards each connection to one of the nodes whose `/readyz` was 200 at the last check, in turn. Repeats nothing. */
export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<string, boolean>();
  const sockets = new Set<Socket>();
  const stop = new AbortController();
  let turn = 0;
  const check = async (url: string): Promise<void> => {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
    ready.set(url, isReady);
  };
  const checks = (async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await Promise.all([...ready.keys()].map(check));
      await pause(CHECK_EVERY_MS);
    }
  })();
  const listener = createServer((client) => {
    const nodes = [...ready].flatMap(([url, isReady]) => (isReady ? [url] : []));
    turn += 1;
    const node = nodes[turn % nodes.length];
    if (node === undefined) {
      client.resetAndDestroy();
      return;
    }
    const { hostname, port } = new URL(node);
    const server = connect({ host: hostname, port: Number(port) });
    join(client, server);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(async () => {
    stop.abort();
    listener.close();
    for (const socket of sockets) socket.destroy();
    await checks;
  });
  const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, add: (url) => check(url) };
}

/** The end or failure of one side ends the other one. */
function join(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
  client.on('error', () => server.resetAndDestroy());
  server.on('error', () => client.resetAndDestroy());
}
