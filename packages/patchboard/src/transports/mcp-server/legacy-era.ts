import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '../../core/json/is-record.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendJson } from '../shared/routes/routes.ts';
import { UNKNOWN_CLIENT } from './client.ts';
import { initialize } from './initialize.ts';
import { idOf, isId, type RpcRequest } from './message.ts';
import { errorJson, RPC_CODES, RpcError } from './rpc-error.ts';
import { RpcResponse } from './rpc-response.ts';
import { rpcErrorOf, runRequest, type ServerParts } from './run-request.ts';
import { Sessions } from './sessions.ts';

/** Serves the protocol versions before 2026-07-28, which have sessions. */
export class LegacyEra {
  readonly #parts: ServerParts;
  readonly #sessions: Sessions = new Sessions();

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  async post(
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
    body: unknown,
  ): Promise<void> {
    const principal = principalOf(request);
    const id = idOf(body);
    const given = request.headers['mcp-session-id'];
    const session =
      typeof given === 'string' ? this.#sessions.use(given, principal, context.clock.now()) : null;
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
    const client = session?.client ?? UNKNOWN_CLIENT;
    await runRequest(this.#parts, context, { request, reply, rpc, era: 'legacy', client, session });
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
      this.#sessions.open(session);
      reply.header('mcp-session-id', session.id);
      response.result(json);
    } catch (error) {
      response.error(rpcErrorOf(error, context, request));
    }
  }
}
