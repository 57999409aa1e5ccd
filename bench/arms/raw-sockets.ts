// Baseline for devices: the same WebSocket library with the same settings, which only parses and replies.
import { once } from 'node:events';
import process from 'node:process';
import { WebSocketServer } from 'ws';
import type { AddressInfo } from 'node:net';
import { collectOnRequest } from './collect.ts';

const server = new WebSocketServer({
  host: '127.0.0.1',
  port: 0,
  maxPayload: 1_048_576,
  perMessageDeflate: false,
});
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString('utf8')) as {
      type: string;
      id?: string;
      tools?: unknown[];
    };
    if (frame.type === 'register_tools') {
      const count = frame.tools?.length ?? 0;
      socket.send(JSON.stringify({ type: 'tools_registered', count, registered: count, rejected: [] }));
    } else socket.send(JSON.stringify({ type: 'result_acknowledged', id: frame.id, accepted: true }));
  });
});
await once(server, 'listening');
collectOnRequest();
process.stdout.write(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
await once(process, 'SIGTERM');
process.exit(0);
