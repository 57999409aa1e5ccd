import { useQuery } from '@tanstack/vue-query';
import { toValue, type MaybeRefOrGetter } from 'vue';
import { MCP_PATH, readResultRequest, type McpRequest } from '../mcp-request.ts';
import { client, subscription } from './connection.ts';
import { keyOf, type QueryResult } from './queries.ts';
import { headersOf } from './server-client.ts';

/** A tool in the tool list of MCP clients. */
export interface McpToolView {
  /** The wire name, by which clients call the tool. */
  readonly name: string;
  readonly _meta: { readonly 'patchboard/name': string };
}

/** The tool as MCP clients see it; null if the tool list does not have it. */
export function useMcpTool(name: MaybeRefOrGetter<string>): QueryResult<McpToolView | null> {
  return useQuery({
    queryKey: keyOf('tools', 'for MCP clients', name),
    queryFn: async ({ signal }) => {
      const formatted = await client.value.formatTools('mcp', { signal });
      const tools = ('tools' in formatted ? formatted.tools : []) as readonly McpToolView[];
      return tools.find(({ _meta: meta }) => meta['patchboard/name'] === toValue(name)) ?? null;
    },
    enabled: () => toValue(name) !== '',
  });
}

/** The response to `tools/call` of an ended call. The server reads it again: the call does not run twice. */
export function useMcpResponse(callId: MaybeRefOrGetter<string>): QueryResult<unknown> {
  return useQuery({
    queryKey: keyOf('mcp-response', callId),
    queryFn: ({ signal }) => send(readResultRequest(toValue(callId)), signal),
    enabled: () => toValue(callId) !== '',
    staleTime: Infinity,
  });
}

async function send(request: McpRequest, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(MCP_PATH, {
    method: 'POST',
    headers: {
      ...headersOf(subscription.value),
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify(request),
    signal,
  });
  const body = (await response.json()) as {
    readonly id: unknown;
    readonly error?: { readonly message: string };
  };
  // A request that was refused before the server read it: this is no result of the call.
  if (body.id !== request.id) throw new Error(body.error?.message ?? `HTTP ${response.status}`);
  return body;
}
