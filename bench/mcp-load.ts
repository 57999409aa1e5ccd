import { ECHO_ARGS, ECHO_TOOL } from './arms/bench-pack.ts';
import type { LoadSettings } from './load/generate.ts';

const VERSION = '2026-07-28';

/** `tools/call` of the echo over MCP, as a client of that version sends it. */
export function mcpLoad(url: string, connections: number): Omit<LoadSettings, 'seconds'> {
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': ECHO_TOOL,
  };
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: ECHO_TOOL,
      arguments: ECHO_ARGS,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': VERSION,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  };
  return { url: `${url}/mcp`, connections, headers, body };
}
