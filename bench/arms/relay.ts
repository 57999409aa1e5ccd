// Baseline for device calls: Fastify and `ws` with the same route, the same frames and the same responses, and no engine or store.
import process from 'node:process';
import fastify from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import { nodeClock } from '../../packages/patchboard/src/runtime/node-clock.ts';
import { timeOrderedIds } from '../../packages/patchboard/src/runtime/ids.ts';

interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly output?: unknown;
  readonly tools?: readonly { readonly name: string }[];
}

interface Invocation {
  readonly Params: { readonly name: string };
  readonly Body: { readonly args: unknown };
}

const ids = timeOrderedIds(nodeClock);
const devices = new Map<string, WebSocket[]>();
const waiting = new Map<string, (output: unknown) => void>();
let turn = 0;

const app = fastify();
app.post<Invocation>('/v1/tools/:name/invoke', async ({ params, body }, reply) => {
  const id = ids.next('tc_');
  const output = await callDevice(params.name, id, body.args);
  return await reply.send({ tool_call_id: id, status: 'SUCCEEDED', result: output });
});
const sockets = new WebSocketServer({
  server: app.server,
  path: '/ws',
  maxPayload: 1_048_576,
  perMessageDeflate: false,
});
sockets.on('connection', (socket) => {
  socket.on('message', (data) => take(socket, JSON.parse((data as Buffer).toString('utf8')) as Frame));
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`ready at ${url}\n`);
process.once('SIGTERM', () => process.exit(0));

/** Devices take turns. */
function callDevice(tool: string, id: string, args: unknown): Promise<unknown> {
  const offered = devices.get(tool) ?? [];
  turn += 1;
  const device = offered[turn % offered.length];
  if (device === undefined) throw new Error(`no device has ${tool}`);
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    device.send(JSON.stringify({ type: 'tool_call_request', id, name: tool, args }));
  });
}

function take(socket: WebSocket, { type, id = '', output, tools = [] }: Frame): void {
  if (type === 'register_tools') {
    for (const { name } of tools) devices.set(name, [...(devices.get(name) ?? []), socket]);
    const count = tools.length;
    socket.send(JSON.stringify({ type: 'tools_registered', count, registered: count, rejected: [] }));
    return;
  }
  socket.send(JSON.stringify({ type: 'result_acknowledged', id, accepted: true }));
  waiting.get(id)?.(output);
  waiting.delete(id);
}
