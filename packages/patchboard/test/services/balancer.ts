import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { resetSocket } from './reset-socket.ts';

export interface Balancer {
  readonly url: string;
  /** The `Host` of requests to it. */
  readonly host: string;
  /** Adds a node, by its URL. Resolves after its first check. */
  add(url: string): Promise<void>;
  remove(url: string): void;
  /** Whether the last check of the node was 200. */
  isReady(url: string): boolean;
  /** The connections to the node that are open or being made. */
  connections(url: string): number;
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 50;
/** A node that does not respond in this time, several times in a row, is not ready. */
const CHECK_MS = 1000;
const SILENT_CHECKS = 3;

/** Forwards each connection to one of the nodes whose `/readyz` was 200 at the last check, in turn. Repeats nothing. */
export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<string, boolean>();
  const sockets = new Set<Socket>();
  /** The sockets to each node. */
  const toNodes = new Map<string, Set<Socket>>();
  const stop = new AbortController();
  const checks: Promise<void>[] = [];
  let turn = 0;
  const silent = new Map<string, number>();
  const check = async (url: string): Promise<void> => {
    const patience = AbortSignal.timeout(CHECK_MS);
    const isReady = await fetch(`${url}/readyz`, { signal: AbortSignal.any([stop.signal, patience]) }).then(
      async (response) => {
        // Otherwise its connection stays open.
        await response.body?.cancel();
        return response.status === 200;
      },
      () => false,
    );
    const times = patience.aborted && !isReady ? (silent.get(url) ?? 0) + 1 : 0;
    silent.set(url, times);
    // A busy machine is late now and then.
    if (ready.has(url) && (times === 0 || times >= SILENT_CHECKS)) ready.set(url, isReady);
  };
  /** One that does not respond does not delay the checks of the others. */
  const keepChecking = async (url: string): Promise<void> => {
    while (ready.has(url) && !stop.signal.aborted) {
      await pause(CHECK_EVERY_MS);
      await check(url);
    }
  };
  const listener = createServer((client) => {
    const nodes = [...ready].flatMap(([url, isReady]) => (isReady ? [url] : []));
    turn += 1;
    const node = nodes[turn % nodes.length];
    if (node === undefined) {
      resetSocket(client);
      return;
    }
    const { hostname, port } = new URL(node);
    const server = connect({ host: hostname, port: Number(port) });
    join(client, server);
    const toNode = toNodes.get(node) ?? new Set<Socket>();
    toNodes.set(node, toNode.add(server));
    server.once('close', () => toNode.delete(server));
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    add: async (url) => {
      ready.set(url, false);
      await check(url);
      checks.push(keepChecking(url));
    },
    remove: (url) => void ready.delete(url),
    isReady: (url) => ready.get(url) === true,
    connections: (url) => toNodes.get(url)?.size ?? 0,
    close: async () => {
      stop.abort();
      listener.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(checks);
    },
  };
}

/** The end or failure of one side ends the other one. */
function join(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
  client.on('error', () => resetSocket(server));
  server.on('error', () => resetSocket(client));
}
