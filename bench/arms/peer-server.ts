// A Fastify route that calls a peer and responds when the call has ended; or the peer's own HTTP server, if it has one.
import { once } from 'node:events';
import process from 'node:process';
import fastify from 'fastify';
import { ECHO_ARGS, ECHO_TOOL } from './bench-pack.ts';
import { openPeer, type PeerName } from './peers/open-peer.ts';
import type { PeerSettings } from './peers/peer.ts';

export interface PeerServerSettings extends PeerSettings {
  readonly peer: PeerName;
}

const settings = JSON.parse(process.argv[2] ?? '') as PeerServerSettings;
const peer = await openPeer(settings.peer, settings);
const app = fastify();
app.post('/v1/tools/:name/invoke', async (_request, reply) => {
  await peer.runOnce();
  return await reply.code(200).send({ status: 'completed', result: ECHO_ARGS });
});
const own = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`ready at ${peer.url ?? `${own}/v1/tools/${ECHO_TOOL}/invoke`}\n`);
await once(process, 'SIGTERM');
await app.close();
await peer.close();
process.exit(0);
