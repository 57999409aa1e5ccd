// An MCP server of both eras over stdio, made with the SDK.
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => {
  const server = new Server({ name: 'both', version: '2.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{ name: 'meta', inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler('tools/call', (request, context) => ({
    content: [],
    structuredContent: { envelope: context.mcpReq?.envelope ?? null, meta: request.params._meta ?? null },
  }));
  return server;
});
