import { sseDecoder } from '@patchboard/wire';
import { agentRoutes } from '../../../src/transports/agent-api/routes.ts';
import { operatorRoutes } from '../../../src/transports/operator-api/routes.ts';
import { DEFAULT_MCP_SETTINGS, type McpSettings } from '../../../src/transports/mcp-server/mcp-settings.ts';
import { mcpRoutes } from '../../../src/transports/mcp-server/routes.ts';
import { closedAfterEach } from '../../support/after-each.ts';
import { aServer, OPERATOR_TOKEN, type ServerGiven, type TestServer } from '../../http/support/a-server.ts';

const VERSION = '2026-07-28';
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const FORM = { elicitation: { form: {} } };
export const URL_MODE = { elicitation: { url: {} } };

/** A response to one JSON-RPC request. */
export interface RpcReply {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly error: any;
  /** What the stream sent before the response. */
  readonly notifications: readonly { readonly method: string; readonly params: Record<string, unknown> }[];
}

export interface Sending {
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Of the URL. */
  readonly query?: string;
}

let lastId = 0;

/** Sends one request of MCP 2026-07-28. */
export async function rpc(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { capabilities = {}, meta = {}, headers = {}, signal, query = '' }: Sending = {},
): Promise<RpcReply> {
  const id = (lastId += 1);
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
    ...meta,
  };
  const response = await fetch(`${url}/mcp${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
    ...(signal === undefined ? {} : { signal }),
  });
  const messages = await messagesOf(response);
  const last = messages.pop() as { id: unknown; result?: unknown; error?: unknown } | undefined;
  if (last?.id !== id) throw new Error(`no response to ${method}: ${JSON.stringify(last)}`);
  return {
    status: response.status,
    result: last.result,
    error: last.error,
    notifications: messages as RpcReply['notifications'],
  };
}

async function messagesOf(response: Response): Promise<unknown[]> {
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return [JSON.parse(text) as unknown];
  return sseDecoder()(text)
    .filter(({ data }) => data !== null)
    .map(({ data }) => JSON.parse(data!) as unknown);
}

export const OPERATOR: Readonly<Record<string, string>> = { authorization: `Bearer ${OPERATOR_TOKEN}` };

/** Makes a key for an agent, and returns the headers of its requests. */
export async function anAgent(server: TestServer, name: string): Promise<Readonly<Record<string, string>>> {
  const made = await server.post('/v1/keys', { kind: 'agent', name }, { headers: { ...OPERATOR } });
  return { authorization: `Bearer ${made.json.key}` };
}

export interface McpFixture extends TestServer {
  rpc(method: string, params: Readonly<Record<string, unknown>>, sending?: Sending): Promise<RpcReply>;
  /** `tools/call`. */
  call(name: string, params?: Readonly<Record<string, unknown>>, sending?: Sending): Promise<RpcReply>;
}

export interface McpGiven extends Omit<ServerGiven, 'routes'> {
  readonly mcp?: Partial<McpSettings>;
  readonly hasPages?: boolean;
  /** Without the other APIs the server starts faster. */
  readonly onlyMcp?: true;
}

/** Returns `anMcpServer` for the tests of a file, with servers that are closed after each test. */
export function mcpServers(): (given: McpGiven) => Promise<McpFixture> {
  const closeLater = closedAfterEach();
  return async (given) => {
    const server = await anMcpServer(given);
    closeLater(() => server.close());
    return server;
  };
}

/** A server with an MCP endpoint that holds calls briefly. */
export async function anMcpServer(given: McpGiven): Promise<McpFixture> {
  const { mcp = {}, hasPages = true, onlyMcp = false, ...rest } = given;
  const settings = { ...DEFAULT_MCP_SETTINGS, holdMs: 20_000, taskAfterMs: 20_000, ...mcp };
  const others = onlyMcp ? [] : [...agentRoutes, ...operatorRoutes];
  const routes = [...mcpRoutes(settings, { hasPages }), ...others];
  const server = await aServer({ ...rest, routes });
  const send: McpFixture['rpc'] = (method, params, sending) => rpc(server.url, method, params, sending);
  return {
    ...server,
    rpc: send,
    call: (name, params = {}, sending = {}) =>
      send('tools/call', { name, arguments: {}, ...params }, sending),
  };
}
