// Baseline: the same request and response with `node:http` alone: the body is read and parsed, and no route is matched.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { nodeClock } from '../../packages/patchboard/src/runtime/node-clock.ts';
import { timeOrderedIds } from '../../packages/patchboard/src/runtime/ids.ts';

const ids = timeOrderedIds(nodeClock);
const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    JSON.parse(text);
    const body = JSON.stringify({
      tool_call_id: ids.next('tc_'),
      status: 'pending',
      message: 'tool call created, use tool_call_id to poll result',
    });
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    };
    response.writeHead(202, headers).end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
