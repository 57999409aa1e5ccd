import type { FastifyRequest } from 'fastify';
import { messageOf } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { requestFailure } from '../shared/http/request-failure.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { baseUrlOf } from '../shared/routes/challenge.ts';
import type { RequestWith } from '../shared/routes/routes.ts';
import type { DeclaredClient } from './client.ts';
import type { Era, Exchange } from './exchange.ts';
import { toRpcError } from './messages/failures.ts';
import type { McpSettings } from './mcp-settings.ts';
import type { RpcRequest } from './messages/message.ts';
import { findMethod } from './methods.ts';
import type { Narrowing } from './calls/narrowing.ts';
import type { ReplyChannel } from './messages/reply-channel.ts';
import { RPC_CODES } from '../../protocols/mcp/rpc-codes.ts';
import { RpcError } from './messages/rpc-error.ts';
import { RpcResponse } from './messages/rpc-response.ts';
import type { Session } from './legacy/session.ts';
import { checkStandardHeaders } from './messages/standard-headers.ts';

/** What one MCP server is: the same for every request. */
export interface ServerParts {
  readonly settings: McpSettings;
  /** The console is served at the same origin. */
  readonly hasPages: boolean;
}

/** `POST /mcp`. */
export type McpRequest = RequestWith<{ query: { tools?: string; hold?: number } }>;

/** One JSON-RPC request of a POST. */
export interface InboundRequest {
  readonly request: McpRequest;
  readonly channel: ReplyChannel;
  readonly narrowing: Narrowing;
  readonly rpc: RpcRequest;
  readonly era: Era;
  readonly client: DeclaredClient;
  readonly session: Session | null;
}

/** Runs the method of a request and sends its result or its error. */
export async function runRequest(
  { settings, hasPages }: ServerParts,
  context: HttpContext,
  { request, channel, narrowing, rpc, era, client, session }: InboundRequest,
): Promise<void> {
  const { headers } = request;
  const { hold } = request.query;
  const principal = principalOf(request);
  const response = new RpcResponse(channel, rpc.id);
  const exchange: Exchange = {
    context,
    settings,
    principal,
    headers,
    era,
    client,
    params: rpc.params,
    meta: rpc.meta,
    response,
    session,
    narrowing,
    origin: hasPages ? baseUrlOf(request, context.resources) : null,
    holdMs: hold === undefined ? settings.holdMs : hold * 1000,
  };
  const ended = session?.started(response);
  try {
    if (era === 'modern') checkStandardHeaders(headers, rpc.method, rpc.params);
    const result = await findMethod(era, rpc.method, rpc.params).handle(exchange);
    if (result !== null) response.result(result);
  } catch (error) {
    response.error(rpcErrorOf(error, context, request));
  } finally {
    ended?.();
  }
}

/** A fault of the server is logged, and sent without details. */
export function rpcErrorOf(error: unknown, context: HttpContext, request: FastifyRequest): RpcError {
  if (error instanceof RpcError) return error;
  const refused = requestFailure(error, request);
  if (refused !== null) return toRpcError(refused);
  context.log.error('mcp.failed', {
    error: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  return new RpcError(RPC_CODES.internalError, 'Internal error', { status: 500 });
}
