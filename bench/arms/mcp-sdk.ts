// The MCP SDK's own handler as its documentation shows it, with a tool that returns its arguments. It stores nothing.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { echoMcpServer } from './echo-mcp-server.ts';

const handler = toNodeHandler(createMcpHandler(echoMcpServer));

const server = createServer((request, response) => void handler(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => process.exit(0));
});
