import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

import { ReplyReader, RequestReader } from './postgres-messages.ts';
import type { ProtocolMessage } from './postgres-messages.ts';
import { resetSocket } from './reset-socket.ts';

export type Direction = 'request' | 'reply';
export type MessageFilter = (message: ProtocolMessage) => boolean;

/** A proxy on loopback in front of a PostgreSQL server, for connections without TLS. It forwards whole messages. */
export interface PostgresProxy {
  /** The same URL with the address of the proxy. */
  through(url: string): string;
  /** Forwards everything again, also on new connections. Connections of which messages were discarded are reset. */
  pass(): void;
  /** Resets every connection on both sides. New ones are accepted. */
  cut(): void;
  /** Resets every connection, and each new one, until `pass`. */
  refuse(): void;
  /** Discards every message on every connection, also on new ones, until `pass`. */
  freeze(): void;
  /** Resets the connection instead of forwarding the first message that matches. Resolves then. */
  cutAt(direction: Direction, matches: MessageFilter): Promise<void>;
  /** Discards the first message that matches, and all later ones of its direction and connection. Resolves then. */
  swallowFrom(direction: Direction, matches: MessageFilter): Promise<void>;
  close(): Promise<void>;
}

/** A request that commits, or the reply that tells that it has. */
export const isCommit: MessageFilter = ({ type, text }) =>
  type === 'C' || type === 'Q' || type === 'E' ? /^\s*commit\b/i.test(text) : false;

/** Matches the nth message of a type. */
export function nth(count: number, ofType: string): MessageFilter {
  let seen = 0;
  return ({ type }) => {
    if (type === ofType) seen += 1;
    return type === ofType && seen === count;
  };
}

interface Trap {
  readonly direction: Direction;
  readonly matches: MessageFilter;
  readonly action: 'cut' | 'swallow';
  sprung(): void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly swallowed: Set<Direction>;
}

/** `target`: a URL, of which host and port count, or an object with the port on loopback. */
export async function startProxy(target: string | { readonly port: number }): Promise<PostgresProxy> {
  const address = addressOf(target);
  const pairs = new Set<Pair>();
  let traps: Trap[] = [];
  let isRefusing = false;
  let isFrozen = false;

  const reset = (pair: Pair): void => {
    pairs.delete(pair);
    resetSocket(pair.client);
    resetSocket(pair.server);
  };
  const cut = (): void => [...pairs].forEach(reset);
  const forward = (pair: Pair, direction: Direction, message: ProtocolMessage): void => {
    if (isFrozen) pair.swallowed.add(direction);
    const trap = traps.find((each) => each.direction === direction && each.matches(message));
    if (trap !== undefined) {
      traps = traps.filter((each) => each !== trap);
      if (trap.action === 'cut') reset(pair);
      else pair.swallowed.add(direction);
      trap.sprung();
    }
    if (pair.swallowed.has(direction) || !pairs.has(pair)) return;
    (direction === 'request' ? pair.server : pair.client).write(message.bytes);
  };
  const set = (action: Trap['action'], direction: Direction, matches: MessageFilter): Promise<void> =>
    new Promise((resolve) => traps.push({ action, direction, matches, sprung: resolve }));

  const listener = createServer((client) => {
    if (isRefusing) {
      resetSocket(client);
      return;
    }
    const server = connect(address).setNoDelay();
    const pair: Pair = { client: client.setNoDelay(), server, swallowed: new Set() };
    pairs.add(pair);
    join(pair, (direction, message) => forward(pair, direction, message));
    for (const socket of [client, server]) socket.once('close', () => pairs.delete(pair));
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;

  return {
    through: (url) => {
      const changed = new URL(url);
      changed.host = `127.0.0.1:${port}`;
      return changed.href;
    },
    pass: () => {
      isRefusing = false;
      isFrozen = false;
      traps = [];
      for (const pair of pairs) if (pair.swallowed.size > 0) reset(pair);
    },
    cut,
    refuse: () => {
      isRefusing = true;
      cut();
    },
    freeze: () => {
      isFrozen = true;
    },
    cutAt: (direction, matches) => set('cut', direction, matches),
    swallowFrom: (direction, matches) => set('swallow', direction, matches),
    close: async () => {
      listener.close();
      cut();
      await once(listener, 'close');
    },
  };
}

function addressOf(target: string | { readonly port: number }): { host: string; port: number } {
  if (typeof target !== 'string') return { host: '127.0.0.1', port: target.port };
  const { hostname, port } = new URL(target);
  return { host: hostname, port: Number(port) };
}

/** The end or failure of one side ends the other one. */
function join(
  { client, server }: Pair,
  forward: (direction: Direction, message: ProtocolMessage) => void,
): void {
  const requests = new RequestReader();
  const replies = new ReplyReader(requests);
  client.on('data', (chunk: Buffer) => {
    for (const message of requests.read(chunk)) forward('request', message);
  });
  server.on('data', (chunk: Buffer) => {
    for (const message of replies.read(chunk)) forward('reply', message);
  });
  client.on('end', () => server.end());
  server.on('end', () => client.end());
  client.on('error', () => resetSocket(server));
  server.on('error', () => resetSocket(client));
}
