// An MCP server over stdio. Its argument is a file with the description of its tool, which is read at the start.
import { readFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const description = readFileSync(process.argv[2], 'utf8').trim();

serveStdio(() => {
  const server = new Server({ name: 'notes-server', version: '2.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'find', description, inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'found nothing' }] }));
  return server;
});
