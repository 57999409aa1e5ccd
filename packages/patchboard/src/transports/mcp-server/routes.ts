import { NOT_STORED, route, type Route, type RouteResponse } from '../shared/routes/routes.ts';
import { ANY, COUNT, headers, optional, TEXT } from '../shared/routes/schemas.ts';
import { MCP_REFUSAL } from './messages/failures.ts';
import type { McpServer } from './mcp-server.ts';
import { MCP_PATH } from './protected-resource.ts';
import { DEFAULT_MCP_SETTINGS, MAX_HOLD_SECONDS, type McpSettings } from './mcp-settings.ts';

const QUERY = optional({
  tools: {
    ...TEXT,
    description: 'narrows the tools: names with `*`, separated by commas, such as `weather.*`',
  },
  hold: {
    ...COUNT,
    minimum: 1,
    maximum: MAX_HOLD_SECONDS,
    description: 'how many seconds `tools/call` waits for a result; default: `mcp.hold_ms`',
  },
});

const HEADERS = headers({
  'mcp-protocol-version': TEXT,
  'mcp-session-id': { ...TEXT, description: 'of clients of protocol versions before 2026-07-28' },
  'mcp-method': { ...TEXT, description: 'repeats the method, in 2026-07-28' },
  'mcp-name': { ...TEXT, description: 'repeats the name, URI or task id, in 2026-07-28' },
});

const RPC_RESPONSE: RouteResponse = {
  description: 'a JSON-RPC response, or a stream that ends with it',
  schema: ANY,
  alternative: { type: 'text/event-stream', schema: TEXT },
};

const SESSION_ROUTE = {
  url: MCP_PATH,
  api: 'mcp',
  scope: 'tools:call',
  protectedResource: MCP_PATH,
  headers: headers({ 'mcp-protocol-version': TEXT, 'mcp-session-id': TEXT }),
  // 404: an unknown session.
  refusals: ['method_not_allowed', 'route_not_found'],
  refuse: MCP_REFUSAL,
} as const;

/** The routes of one MCP server. `hasPages`: the console is served at the same origin. */
export function mcpRoutes(
  settings: McpSettings = DEFAULT_MCP_SETTINGS,
  { hasPages = true }: { readonly hasPages?: boolean } = {},
): readonly Route[] {
  let loading: Promise<McpServer> | null = null;
  // Loaded with the first request, because the SDK would add a fifth to the time of every start.
  const load = async (): Promise<McpServer> => {
    const { McpServer: Server } = await import('./mcp-server.ts');
    return new Server(settings, hasPages);
  };
  const serve = (): Promise<McpServer> => (loading ??= load());
  return [
    route({
      method: 'POST',
      url: MCP_PATH,
      name: 'mcp',
      api: 'mcp',
      summary: 'One message of the Model Context Protocol, 2024-10-07 to 2026-07-28 (Streamable HTTP).',
      scope: 'tools:call',
      protectedResource: MCP_PATH,
      query: QUERY,
      headers: HEADERS,
      body: ANY,
      responses: { 200: RPC_RESPONSE, 202: { description: 'a notification or a response was accepted' } },
      // 404: an unknown method of 2026-07-28, or an unknown session.
      refusals: ['route_not_found', ...NOT_STORED],
      refuse: MCP_REFUSAL,
      handle: async (context, request, reply) => await (await serve()).post(context, request, reply),
    }),
    {
      ...SESSION_ROUTE,
      method: 'GET',
      name: 'mcpStream',
      summary: 'The stream of a session: changes of lists and resources. Before 2026-07-28 only.',
      isStream: true,
      responses: { 200: { description: 'JSON-RPC notifications', schema: TEXT, type: 'text/event-stream' } },
      handle: async (context, request, reply) => (await serve()).legacy.get(context, request, reply),
    },
    {
      ...SESSION_ROUTE,
      method: 'DELETE',
      name: 'mcpEndSession',
      summary: 'Ends a session and its stream. Its calls go on. Before 2026-07-28 only.',
      responses: { 204: { description: 'the session has ended' } },
      handle: async (context, request, reply) => (await serve()).legacy.delete(context, request, reply),
    },
  ];
}
