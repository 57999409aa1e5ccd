// The MCP SDK's own handler as its documentation shows it, with a tool that returns its arguments. It stores nothing.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { BENCH_PACK, ECHO_TOOL } from './bench-pack.ts';

const [echo] = BENCH_PACK.tools;
const tool = {
  name: ECHO_TOOL,
  description: echo?.description ?? '',
  inputSchema: { ...(echo?.inputSchema as object), type: 'object' as const },
};

const handler = toNodeHandler(
  createMcpHandler(() => {
    const server = new Server({ name: 'sdk', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
      structuredContent: params.arguments,
    }));
    return server;
  }),
);

const server = createServer((request, response) => void handler(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
