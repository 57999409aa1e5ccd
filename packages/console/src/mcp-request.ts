import type { McpConnection } from '@patchboard/wire';

/** The path of the MCP server. */
export const MCP_PATH = '/mcp';

/** Stands for the key of an agent in what the user copies. */
const KEY_PLACEHOLDER = 'pb_…';

/** The tool that returns the result of a recorded call. */
const RESULT_TOOL = 'patchboard__result';

/** A `tools/call` request. Without `_meta`, as clients of every protocol version may send it. */
export interface McpRequest {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly method: 'tools/call';
  readonly params: { readonly name: string; readonly arguments: unknown };
}

/** `name`: the wire name. */
export function callRequest(name: string, args: unknown): McpRequest {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}

/** The request for the result of a call that has ended. */
export function readResultRequest(callId: string): McpRequest {
  return callRequest(RESULT_TOOL, { tool_call_id: callId, wait_seconds: 0 });
}

/** How an MCP client reaches the server at `origin` over HTTP. */
export function connectionTo(
  origin: string,
  { tenant, needsKey }: { readonly tenant: string; readonly needsKey: boolean },
): McpConnection {
  const headers = {
    ...(needsKey ? { Authorization: `Bearer ${KEY_PLACEHOLDER}` } : {}),
    ...(tenant === 'default' ? {} : { 'X-Tenant-ID': tenant }),
  };
  const url = `${origin}${MCP_PATH}`;
  return Object.keys(headers).length === 0 ? { kind: 'http', url } : { kind: 'http', url, headers };
}
