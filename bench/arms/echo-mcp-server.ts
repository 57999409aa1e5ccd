import { Server } from '@modelcontextprotocol/server';
import { BENCH_PACK, ECHO_TOOL } from './bench-pack.ts';

const [echo] = BENCH_PACK.tools;
const tool = {
  name: ECHO_TOOL,
  description: echo?.description ?? '',
  inputSchema: { ...(echo?.inputSchema as object), type: 'object' as const },
};

/** An MCP server of the SDK with one tool, which returns its arguments. It stores nothing. */
export function echoMcpServer(): Server {
  const server = new Server({ name: 'sdk', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [tool] }));
  server.setRequestHandler('tools/call', ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
    structuredContent: params.arguments,
  }));
  return server;
}
