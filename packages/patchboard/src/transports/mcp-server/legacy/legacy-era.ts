import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../../../core/engine.ts';
import { messageOf, type Failure } from '../../../core/failures.ts';
import type { MaybePromise } from '../../../core/maybe-promise.ts';
import { isRecord } from '@patchboard/wire/json';
import type { HttpContext } from '../../shared/http/context.ts';
import { principalOf } from '../../shared/routes/caller.ts';
import { sendProblem } from '../../shared/routes/problem.ts';
import { sendJson } from '../../shared/routes/routes.ts';
import { readBatch, type Message } from './batch.ts';
import { UNKNOWN_CLIENT } from '../client.ts';
import { initialize } from './initialize.ts';
import { idOf, isId, type RpcRequest } from '../messages/message.ts';
import type { Narrowing } from '../calls/narrowing.ts';
import { ReplyChannel } from '../messages/reply-channel.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { errorJson, RpcError, type RpcId } from '../messages/rpc-error.ts';
import { RpcResponse } from '../messages/rpc-response.ts';
import { type McpRequest, rpcErrorOf, runRequest, type ServerParts } from '../run-request.ts';
import { respondElsewhere } from './server-requests.ts';
import type { Session } from './session.ts';
import { onSessionSignals, signalSession } from './session-signals.ts';
import { openSessionStream, sessionRefusal, streamRefusal } from './session-stream.ts';
import { checkVersion } from './session-version.ts';
import { Sessions } from './sessions.ts';
import { SharedSessions } from './shared-sessions.ts';

/** One POST. */
export interface InboundPost {
  readonly context: HttpContext;
  readonly request: McpRequest;
  readonly reply: FastifyReply;
  readonly narrowing: Narrowing;
}

/** Serves the protocol versions before 2026-07-28, which have sessions. */
export class LegacyEra {
  readonly #parts: ServerParts;
  readonly #sessions: Sessions = new Sessions();
  readonly #shared: SharedSessions = new SharedSessions(this.#sessions);
  readonly #listening: WeakSet<Engine> = new WeakSet();

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /** Called with each request: listens to the other nodes from the first one on. */
  #listen({ engine, tokens, log }: HttpContext): void {
    if (this.#listening.has(engine)) return;
    this.#listening.add(engine);
    onSessionSignals(
      engine,
      (id) => this.#sessions.find(id),
      (session) =>
        void this.#shared
          .refresh(tokens, session)
          .catch((error: unknown) => log.warn('mcp.session_not_read', { error: messageOf(error) })),
    );
  }

  /** One message, or a batch. */
  async post(post: InboundPost, body: unknown): Promise<void> {
    const { context, request, reply } = post;
    try {
      const session = await this.#sessionOf(context, request);
      const isOpening = isRecord(body) && body['method'] === 'initialize';
      if (!isOpening) checkVersion(request.headers, session);
      if (Array.isArray(body)) await this.#batch(post, readBatch(body, session), session);
      else if (isRecord(body)) await this.#message(post, body, session);
      else throw new RpcError(RPC_CODES.invalidRequest, 'Invalid Request', { status: 400 });
    } catch (error) {
      refuse(reply, idOf(body), rpcErrorOf(error, context, request));
    }
  }

  /** `GET /mcp`: the stream of a session. */
  async get(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#ofSession(context, request, reply, streamRefusal(request), (session) => {
      checkVersion(request.headers, session);
      openSessionStream(context, reply, session);
    });
  }

  /** `DELETE /mcp`: ends a session and its stream. Its calls go on. */
  async delete(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.#ofSession(context, request, reply, sessionRefusal(request), async (session) => {
      if (context.engine.changes.isShared) await this.#shared.close(context, session);
      else this.#sessions.close(session);
      reply.code(204).send();
    });
  }

  async #ofSession(
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
    refused: Failure | null,
    serve: (session: Session) => MaybePromise<void>,
  ): Promise<void> {
    if (refused !== null) {
      if (refused.code === 'method_not_allowed') reply.header('allow', 'POST');
      sendProblem(reply, refused);
      return;
    }
    try {
      const session = await this.#sessionOf(context, request);
      if (session !== null) await serve(session);
    } catch (error) {
      refuse(reply, null, rpcErrorOf(error, context, request));
    }
  }

  /** Null if the request names none. Throws for an unknown session and for one of another principal alike. */
  async #sessionOf(context: HttpContext, request: FastifyRequest): Promise<Session | null> {
    this.#listen(context);
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string') return null;
    const session = context.engine.changes.isShared
      ? await this.#shared.use(context, id, principalOf(request))
      : this.#sessions.use(id, principalOf(request), context.clock.now());
    if (session === undefined)
      throw new RpcError(RPC_CODES.sessionNotFound, 'Session not found', { status: 404 });
    return session;
  }

  async #message(post: InboundPost, message: Message, session: Session | null): Promise<void> {
    const { context, request, reply } = post;
    if (!isRequest(message)) {
      const problem = await accept(post, message, session);
      if (problem !== null) throw problem;
      reply.code(202).send();
      return;
    }
    const channel = new ReplyChannel(context, reply, principalOf(request));
    const rpc = requestOf(message);
    if (rpc.method === 'initialize') await this.#initialize(post, channel, rpc);
    else await this.#run(post, channel, rpc, session);
  }

  async #batch(post: InboundPost, messages: readonly Message[], session: Session | null): Promise<void> {
    const { context, request, reply } = post;
    const requests = messages.filter(isRequest).map(requestOf);
    const others = messages.filter((message) => !isRequest(message));
    const problems = await Promise.all(others.map((message) => accept(post, message, session)));
    const problem = problems.find((one) => one !== null);
    if (problem !== undefined) throw problem;
    if (requests.length === 0) {
      reply.code(202).send();
      return;
    }
    const channel = new ReplyChannel(context, reply, principalOf(request), requests.length);
    await Promise.all(requests.map((rpc) => this.#run(post, channel, rpc, session)));
  }

  async #run(
    { context, request, narrowing }: InboundPost,
    channel: ReplyChannel,
    rpc: RpcRequest,
    session: Session | null,
  ): Promise<void> {
    const client = session?.client ?? UNKNOWN_CLIENT;
    const given = { request, channel, narrowing, rpc, client, session };
    await runRequest(this.#parts, context, { ...given, era: 'legacy' });
    if (session !== null && context.engine.changes.isShared) await this.#shared.save(context, session);
  }

  async #initialize(
    { context, request, reply }: InboundPost,
    channel: ReplyChannel,
    { id, params }: RpcRequest,
  ): Promise<void> {
    const response = new RpcResponse(channel, id);
    try {
      const { clock, engine } = context;
      const server = { now: clock.now(), instanceId: engine.instanceId };
      const { session, json } = initialize(params, principalOf(request), server);
      this.#sessions.open(session, context.openStreams);
      if (engine.changes.isShared) await this.#shared.save(context, session);
      reply.header('mcp-session-id', session.id);
      response.result(json);
    } catch (error) {
      response.error(rpcErrorOf(error, context, request));
    }
  }
}

/** Takes a notification, or the client's response to a request of the server. */
async function accept(
  { context, request }: InboundPost,
  message: Message,
  session: Session | null,
): Promise<RpcError | null> {
  if (session === null) return null;
  if (message['method'] === undefined) {
    const { id } = message;
    const isElsewhere = context.engine.changes.isShared && !session.expects(id);
    if (!isElsewhere) return await session.respond(id, message);
    return await respondElsewhere({ context, principal: principalOf(request) }, session, id, message);
  }
  const { params } = message;
  if (message['method'] !== 'notifications/cancelled' || !isRecord(params)) return null;
  const { requestId } = params;
  if (!isId(requestId)) return null;
  // Another node may have taken the request.
  if (!session.cancel(requestId))
    signalSession(context.engine, session.id, { kind: 'cancelled', request: requestId });
  return null;
}

function isRequest(message: Message): boolean {
  return typeof message['method'] === 'string' && isId(message['id']);
}

function requestOf(message: Message): RpcRequest {
  const params = isRecord(message['params']) ? message['params'] : {};
  const meta = isRecord(params['_meta']) ? params['_meta'] : {};
  return { id: message['id'] as RpcId, method: message['method'] as string, params, meta };
}

function refuse(reply: FastifyReply, id: RpcId | null, error: RpcError): void {
  sendJson(reply, error.status, errorJson(id, error));
}
