import { once } from 'node:events';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createEndpointHandler, service, type Context } from '@restatedev/restate-sdk';
import { ECHO_ARGS } from '../bench-pack.ts';
import { Connections, postJson } from '../../http.ts';
import type { Peer, PeerSettings } from './peer.ts';

const SERVICE = 'bench';
const PATH = `/${SERVICE}/echo`;

/**
 * A handler of one run step in this process, which Restate calls over HTTP/2. Restate stores the invocation,
 * the result of the step and the output in its log. A call is a request to Restate that waits for the output.
 */
export async function openRestate({ address, ingress = '', concurrency }: PeerSettings): Promise<Peer> {
  const bench = service({
    name: SERVICE,
    handlers: {
      echo: async (context: Context, args: unknown) => await context.run('echo', () => args),
    },
  });
  const server = createServer(createEndpointHandler({ services: [bench], logger: () => {} }));
  const sessions: Set<Http2Session> = new Set();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await postJson(`${address}/deployments`, { uri, force: true });
  const connections = new Connections(ingress, concurrency);
  return {
    url: `${ingress}${PATH}`,
    runOnce: async () => void (await connections.post(PATH, ECHO_ARGS)),
    close: async () => {
      connections.close();
      server.close();
      // Restate keeps its connections to the handler open.
      for (const session of sessions) session.destroy();
    },
  };
}
