import { reason, type InputKind } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { paramHeaderValues } from '../../protocols/mcp/param-headers.ts';
import { META } from '../../protocols/mcp/revisions.ts';
import { RPC_CODES } from '../../protocols/mcp/rpc-codes.ts';
import { pause } from '../shared/pause.ts';
import { invalidResult, rpcFailure, type RpcErrorResponse } from './call-failures.ts';
import { notificationHandler } from './call-notifications.ts';
import { resultValue } from './call-result.ts';
import type { McpConnection, McpRequest } from './mcp-connection.ts';
import type { McpUpstreamSettings } from './mcp-upstream-settings.ts';
import { sendRequest, type SendParts } from './send-request.ts';
import type { McpTarget } from './tool-specs.ts';
import {
  carriedInput,
  declaredCapabilities,
  inputRequiredOf,
  inputResponses,
  requestableKinds,
  serverRequestHandler,
} from './upstream-inputs.ts';
import { UpstreamTask } from './upstream-task.ts';

export interface UpstreamCallParts extends Omit<SendParts, 'upstream'> {
  readonly settings: McpUpstreamSettings;
  readonly connection: Pick<McpConnection, 'request' | 'refreshTools'>;
}

/** A call that more gateways have passed on is probably in a loop. */
const MOST_HOPS = 3;
/** Pause before a repeated request. Servers hold such a request; the pause bounds the rate for one that does not. */
const REPEAT_PAUSE_MS = 250;
/** Servers send no log messages below it. */
const LOG_LEVEL = { 'io.modelcontextprotocol/logLevel': 'warning' };

/**
 * Calls a tool of an upstream MCP server. Returns the value of the call, or `InputRequired` to ask the caller. Throws
 * `ToolFailure`, or the reason of the signal.
 */
export async function callUpstream(
  given: UpstreamCallParts,
  tool: UpstreamTool,
  args: unknown,
  context: ToolContext,
): Promise<unknown> {
  const parts = { ...given, upstream: given.settings.name };
  const hops = (context.origin?.hops ?? 0) + 1;
  if (hops > MOST_HOPS) throw loop(parts.upstream, hops - 1);
  const kinds = requestableKinds(parts.settings, context);
  const carry = carriedInput(context);
  const taskOf = (id: string): UpstreamTask => new UpstreamTask(parts, tool, context, { id, kinds });
  if (carry?.task !== undefined) return await taskOf(carry.task).respond(inputResponses(carry, context));
  const request = callRequest(parts, tool, args, context, { hops, kinds });
  let continuation: Readonly<Record<string, unknown>> =
    carry === null ? {} : { ...stateOf(carry.state), inputResponses: inputResponses(carry, context) };
  let hasBegun = carry !== null;
  for (;;) {
    const params = { ...request.params, ...continuation };
    const response = await sendRequest({ ...parts, hasBegun }, { ...request, params }, context);
    hasBegun = true;
    if (response.kind === 'error') throw callError(parts, response, tool);
    const { result } = response;
    const { resultType = 'complete', taskId, requestState } = result;
    if (resultType === 'complete') return resultValue(parts, result, tool);
    if (resultType === 'task' && typeof taskId === 'string') return await taskOf(taskId).result(result);
    if (resultType !== 'input_required') throw invalidResult(parts);
    const required = inputRequiredOf(parts, result['inputRequests'], kinds, { state: requestState });
    if (required !== null) return required;
    // Without input requests the server asks for the same request again, with its state. Without a state that would be a second call.
    if (requestState === undefined) throw invalidResult(parts);
    continuation = { requestState };
    await pause(parts.clock, REPEAT_PAUSE_MS, context.signal);
  }
}

function stateOf(requestState: unknown): Readonly<Record<string, unknown>> {
  return requestState === undefined ? {} : { requestState };
}

function callRequest(
  parts: UpstreamCallParts & { readonly upstream: string },
  tool: UpstreamTool,
  args: unknown,
  context: ToolContext,
  { hops, kinds }: { readonly hops: number; readonly kinds: readonly InputKind[] },
): McpRequest {
  const onServerRequest = serverRequestHandler(parts, kinds, context);
  return {
    method: 'tools/call',
    params: {
      name: (tool.target as McpTarget).tool,
      arguments: args,
      _meta: {
        ...LOG_LEVEL,
        [META.idempotencyKey]: context.idempotencyKey,
        [META.hops]: hops,
        progressToken: context.callId,
        ...(context.traceparent === null ? {} : { traceparent: context.traceparent }),
      },
    },
    capabilities: declaredCapabilities(kinds),
    headers: paramHeaderValues(tool.inputSchema, args),
    signal: context.signal,
    onNotification: notificationHandler(parts, context),
    ...(onServerRequest === undefined ? {} : { onServerRequest }),
  };
}

/** An unknown tool or other arguments than the server expects: its list has probably changed. */
const OUTDATED_LIST: ReadonlySet<number> = new Set([RPC_CODES.methodNotFound, RPC_CODES.invalidParams]);

function callError(
  parts: UpstreamCallParts & { readonly upstream: string },
  response: RpcErrorResponse,
  { name }: UpstreamTool,
): ToolFailure {
  if (OUTDATED_LIST.has(response.code)) parts.connection.refreshTools();
  return rpcFailure(parts, response, name);
}

function loop(upstream: string, hops: number): ToolFailure {
  const why = reason('upstream_hops', { upstream, hops });
  return new ToolFailure(failure('tool_failed', why, { outcome: 'not_started' }));
}
