import type { FastifyReply } from 'fastify';
import type { Principal } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { prepareProblem } from '../shared/routes/problem.ts';
import { sendDirect } from '../shared/http/send-direct.ts';
import type { EventStream } from '../shared/streams/streams.ts';
import { errorJson, type RpcError, type RpcId } from './rpc-error.ts';

/** After this time without a result the response becomes a stream, whose heartbeat keeps the connection open. */
const STREAM_AFTER_MS = 5000;

/**
 * The response to one JSON-RPC request: one JSON document, unless there is something to send before the result. Then it
 * becomes an event stream, if the client accepts one.
 */
export class RpcResponse {
  readonly #context: HttpContext;
  readonly #reply: FastifyReply;
  readonly #principal: Principal;
  readonly #id: RpcId;
  readonly #stop: AbortController = new AbortController();
  readonly #acceptsStream: boolean;
  #stream: EventStream | null = null;
  #isDone = false;

  constructor(context: HttpContext, reply: FastifyReply, principal: Principal, id: RpcId) {
    this.#context = context;
    this.#reply = reply;
    this.#principal = principal;
    this.#id = id;
    this.#acceptsStream = acceptsStream(reply.request.headers.accept);
  }

  get id(): RpcId {
    return this.#id;
  }

  /** Whether messages can be sent before the result. */
  get canStream(): boolean {
    return this.#acceptsStream;
  }

  /** Whether the client has closed the connection. */
  get isGone(): boolean {
    return this.#reply.raw.destroyed && !this.#isDone;
  }

  /**
   * Runs `work` with a signal that aborts when the client disconnects, its credential ends or the server closes. `work`
   * then sends what is known.
   */
  async hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, bodies, openStreams } = this.#context;
    // The call is recorded: its arguments now count as those of an open call.
    bodies.release(this.#reply.request);
    const abort = (): void => this.#stop.abort();
    const leave = openStreams.add(abort, this.#principal);
    const disarm = this.#acceptsStream ? clock.after(STREAM_AFTER_MS, () => this.stream()) : null;
    const socket = this.#reply.raw.socket;
    const idleMs = socket?.timeout ?? 0;
    socket?.setTimeout(0);
    this.#reply.raw.once('close', abort);
    if (this.#reply.raw.destroyed) abort();
    try {
      return await work(this.#stop.signal);
    } finally {
      leave();
      disarm?.();
      socket?.setTimeout(idleMs);
      this.#reply.raw.removeListener('close', abort);
      // This request arrived before the close began, so its connection must be closed here.
      if (openStreams.isClosing && this.#stream === null) this.#reply.header('connection', 'close');
    }
  }

  notify(method: string, params: Readonly<Record<string, unknown>>): void {
    this.notifyJson(method, JSON.stringify(params));
  }

  /** As `notify`; the parameters are JSON text. */
  notifyJson(method: string, params: string): void {
    this.#send(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`);
  }

  /** Sends a request of the server to a client of an older protocol version. */
  request(id: RpcId, method: string, params: Readonly<Record<string, unknown>>): void {
    this.#send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  /** Sends the result, which is JSON text, and ends the response. */
  result(json: string): void {
    this.#finish(200, `{"jsonrpc":"2.0","id":${JSON.stringify(this.#id)},"result":${json}}`);
  }

  error(error: RpcError): void {
    const { failure, status } = error;
    // Sets headers such as `Retry-After`, and counts the refusal.
    if (failure !== null && this.#stream === null) prepareProblem(this.#reply, failure);
    this.#finish(status, errorJson(this.#id, error));
  }

  /** Turns the response into an event stream. `ends`: the stream ends with the server and with the client's credential. */
  stream(): EventStream {
    this.#stream ??= this.#context.streams.open(this.#reply, this.#principal, () => this.#stop.abort());
    return this.#stream;
  }

  #send(json: string): void {
    if (this.#isDone || !this.#acceptsStream) return;
    this.stream().write(frame(json));
  }

  #finish(status: number, json: string): void {
    if (this.#isDone) return;
    this.#isDone = true;
    if (this.#stream !== null) {
      this.#stream.write(frame(json));
      this.#stream.end();
    } else if (!this.#reply.raw.destroyed) sendDirect(this.#reply, status, json);
  }
}

/** JSON text has no line breaks. */
function frame(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

function acceptsStream(accept: string | undefined): boolean {
  return accept !== undefined && (accept.includes('text/event-stream') || accept.includes('*/*'));
}
