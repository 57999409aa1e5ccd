import { reason } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../../core/access/principal.ts';
import { failure, type Failure } from '../../../core/failures.ts';
import type { HttpContext } from '../../shared/http/context.ts';
import { principalOf } from '../../shared/routes/caller.ts';
import { sendProblem } from '../../shared/routes/problem.ts';
import type { EventStream } from '../../shared/streams/streams.ts';
import { followChanges, type ListName } from '../lists/list-changes.ts';
import { MCP_PATH } from '../protected-resource.ts';
import { acceptsStream, frame } from '../messages/reply-channel.ts';
import { MODERN_VERSION } from '../../../protocols/mcp/revisions.ts';
import type { Session } from './session.ts';

const LISTS: ReadonlySet<ListName> = new Set(['tools', 'prompts', 'resources']);
const NO_LISTS: ReadonlySet<ListName> = new Set();

/** The stream of `GET /mcp`: what a session is sent outside of its requests. */
export class SessionStream {
  readonly #context: HttpContext;
  readonly #principal: Principal;
  readonly #stream: EventStream;
  /** By URI. */
  readonly #watched: Map<string, () => void> = new Map();

  constructor(context: HttpContext, principal: Principal, stream: EventStream) {
    this.#context = context;
    this.#principal = principal;
    this.#stream = stream;
    const wanted = { lists: LISTS, uris: [] };
    stream.onClose(followChanges(context, principal, wanted, (...given) => this.notify(...given)));
    stream.onClose(() => {
      for (const stop of this.#watched.values()) stop();
    });
  }

  notify(method: string, params: Readonly<Record<string, unknown>> = {}): void {
    this.#stream.write(frame(JSON.stringify({ jsonrpc: '2.0', method, params })));
  }

  /** Sends a request of the server. */
  request(id: string, method: string, params: Readonly<Record<string, unknown>>): void {
    this.#stream.write(frame(JSON.stringify({ jsonrpc: '2.0', id, method, params })));
  }

  /** Sends `notifications/resources/updated` for the resource until `unwatch`. */
  watch(uri: string): void {
    if (this.#watched.has(uri)) return;
    const wanted = { lists: NO_LISTS, uris: [uri] };
    const stop = followChanges(this.#context, this.#principal, wanted, (...given) => this.notify(...given));
    this.#watched.set(uri, stop);
  }

  unwatch(uri: string): void {
    this.#watched.get(uri)?.();
    this.#watched.delete(uri);
  }

  close(): void {
    this.#stream.end();
  }
}

/** Why `GET /mcp` or `DELETE /mcp` is refused before its session is looked up; null if it is not. */
export function sessionRefusal({ headers, method }: FastifyRequest): Failure | null {
  const isModern = headers['mcp-protocol-version'] === MODERN_VERSION;
  if (!isModern && headers['mcp-session-id'] !== undefined) return null;
  const why = reason('route_takes_methods', { path: MCP_PATH, methods: 'POST', method });
  return failure('method_not_allowed', why, {
    recommendations: ['send Mcp-Session-Id: only sessions, of versions before 2026-07-28, take it'],
  });
}

export function streamRefusal(request: FastifyRequest): Failure | null {
  const refused = sessionRefusal(request);
  if (refused !== null) return refused;
  if (acceptsStream(request.headers.accept)) return null;
  const why = reason('route_takes_methods', { path: MCP_PATH, methods: 'POST', method: request.method });
  return failure('method_not_allowed', why, { recommendations: ['send Accept: text/event-stream'] });
}

/** Opens the session's stream. One that is open is replaced: its client may have lost it without the server's notice. */
export function openSessionStream(context: HttpContext, reply: FastifyReply, session: Session): void {
  const principal = principalOf(reply.request);
  // Closed before the limit is checked: it takes the place of the new one.
  session.stream?.close();
  // Checked where nothing is awaited before the stream is counted.
  const refused = context.eventStreams.refusal(principal);
  if (refused !== null) return sendProblem(reply, refused);
  const events = context.streams.open(reply, principal);
  context.eventStreams.add(events, principal);
  const stream = new SessionStream(context, principal, events);
  for (const uri of session.subscriptions) stream.watch(uri);
  session.stream = stream;
  events.onClose(() => {
    if (session.stream === stream) session.stream = null;
  });
}
