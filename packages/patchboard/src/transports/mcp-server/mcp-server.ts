import { CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../core/failures.ts';
import { isRecord } from '../../core/json/is-record.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { baseUrlOf } from '../shared/routes/challenge.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson } from '../shared/routes/routes.ts';
import { readClient, UNKNOWN_CLIENT, type McpClient } from './client.ts';
import type { Era, Exchange } from './exchange.ts';
import { toRpcError } from './failures.ts';
import { initialize } from './initialize.ts';
import type { McpSettings } from './mcp-settings.ts';
import { classify, idOf, isId, type RpcRequest } from './message.ts';
import { findMethod } from './methods.ts';
import { readNarrowing } from './narrowing.ts';
import { errorJson, RPC_CODES, RpcError } from './rpc-error.ts';
import { RpcResponse } from './rpc-response.ts';
import { Sessions, type Session } from './sessions.ts';
import { checkStandardHeaders } from './standard-headers.ts';
import { requestFailure } from '../shared/http/request-failure.ts';

/** The MCP server of one HTTP server: the dispatcher of both protocol eras, and the sessions of the older one. */
export class McpServer {
  readonly #settings: McpSettings;
  readonly #hasPages: boolean;
  readonly sessions: Sessions = new Sessions();

  constructor(settings: McpSettings, hasPages: boolean) {
    this.#settings = settings;
    this.#hasPages = hasPages;
  }

  /** `POST /mcp`. */
  async post(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const inbound = classify(request.body, request.headers);
    switch (inbound.kind) {
      case 'rejected':
        sendJson(reply, inbound.error.status, errorJson(inbound.id, inbound.error));
        return;
      case 'modern notification':
        reply.code(202).send();
        return;
      case 'modern':
        await this.#modern(context, request, reply, inbound.request);
        return;
      case 'legacy':
        await this.#legacy(context, request, reply, inbound.body);
    }
  }

  async #modern(
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
    rpc: RpcRequest,
  ): Promise<void> {
    const client = readClient(rpc.meta[CLIENT_INFO_META_KEY], rpc.meta[CLIENT_CAPABILITIES_META_KEY]);
    await this.#run(context, { request, reply, rpc, era: 'modern', client, session: null });
  }

  async #legacy(
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
    body: unknown,
  ): Promise<void> {
    const principal = principalOf(request);
    const id = idOf(body);
    const given = request.headers['mcp-session-id'];
    const session =
      typeof given === 'string' ? this.sessions.use(given, principal, context.clock.now()) : null;
    if (session === undefined) {
      const error = new RpcError(RPC_CODES.sessionNotFound, 'Session not found', { status: 404 });
      sendJson(reply, error.status, errorJson(id, error));
      return;
    }
    if (!isRecord(body) || typeof body['method'] !== 'string' || !isId(body['id'])) {
      reply.code(202).send();
      return;
    }
    const params = isRecord(body['params']) ? body['params'] : {};
    const meta = isRecord(params['_meta']) ? params['_meta'] : {};
    const rpc: RpcRequest = { id: body['id'], method: body['method'], params, meta };
    if (rpc.method === 'initialize') {
      this.#initialize(context, request, reply, rpc);
      return;
    }
    await this.#run(context, {
      request,
      reply,
      rpc,
      era: 'legacy',
      client: session?.client ?? UNKNOWN_CLIENT,
      session,
    });
  }

  #initialize(
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
    { id, params }: RpcRequest,
  ): void {
    const principal = principalOf(request);
    const response = new RpcResponse(context, reply, principal, id);
    try {
      const { session, json } = initialize(params, principal, context.clock.now());
      this.sessions.open(session);
      reply.header('mcp-session-id', session.id);
      response.result(json);
    } catch (error) {
      response.error(rpcErrorOf(error, context, request));
    }
  }

  async #run(context: HttpContext, given: Given): Promise<void> {
    const { request, reply, rpc, era, client, session } = given;
    const { headers } = request;
    const { tools, hold } = request.query as { tools?: string; hold?: number };
    const narrowing = readNarrowing(tools);
    if ('code' in narrowing) {
      sendProblem(reply, narrowing);
      return;
    }
    const principal = principalOf(request);
    const response = new RpcResponse(context, reply, principal, rpc.id);
    const exchange: Exchange = {
      context,
      settings: this.#settings,
      principal,
      headers,
      era,
      client,
      params: rpc.params,
      meta: rpc.meta,
      response,
      session,
      narrowing,
      origin: this.#hasPages ? baseUrlOf(request, context.resources) : null,
      holdMs: hold === undefined ? this.#settings.holdMs : hold * 1000,
    };
    try {
      if (era === 'modern') checkStandardHeaders(headers, rpc.method, rpc.params);
      const result = await findMethod(era, rpc.method, rpc.params).handle(exchange);
      if (result !== null) response.result(result);
    } catch (error) {
      response.error(rpcErrorOf(error, context, request));
    }
  }
}

interface Given {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly rpc: RpcRequest;
  readonly era: Era;
  readonly client: McpClient;
  readonly session: Session | null;
}

/** A fault of the server is logged, and sent without details. */
function rpcErrorOf(error: unknown, context: HttpContext, request: FastifyRequest): RpcError {
  if (error instanceof RpcError) return error;
  const refused = requestFailure(error, request);
  if (refused !== null) return toRpcError(refused);
  context.log.error('mcp.failed', {
    error: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  return new RpcError(RPC_CODES.internalError, 'Internal error', { status: 500 });
}
