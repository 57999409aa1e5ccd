import type { FastifyReply } from 'fastify';
import type { Principal } from '../../../core/access/principal.ts';
import type { Failure } from '../../../core/failures.ts';
import type { HttpContext } from '../../shared/http/context.ts';
import { sendDirect } from '../../shared/http/send-direct.ts';
import { prepareProblem } from '../../shared/routes/problem.ts';
import type { EventStream } from '../../shared/streams/streams.ts';
import { watchConnection } from '../../shared/streams/waiting.ts';

/** After this time without a result the response becomes a stream, whose heartbeat keeps the connection open. */
const STREAM_AFTER_MS = 5000;

/** A JSON-RPC response. Status and failure count only if it is sent as a document of its own. */
export interface Finished {
  readonly json: string;
  readonly status: number;
  readonly failure: Failure | null;
}

/**
 * The HTTP response to one POST: one JSON document, unless there is something to send before the results. Then it becomes
 * an event stream, if the client accepts one. The requests of a batch share it.
 */
export class ReplyChannel {
  readonly #context: HttpContext;
  readonly #reply: FastifyReply;
  readonly #principal: Principal;
  /** Null: the POST has a single request. */
  readonly #batch: string[] | null;
  readonly #acceptsStream: boolean;
  /** One per request that is held. */
  readonly #held: Set<() => void> = new Set();
  #stream: EventStream | null = null;
  #unfinished: number;
  #release: (() => void) | null = null;
  #isAborted = false;

  /** `batchSize`: the number of requests in the batch; null if the POST is none. */
  constructor(
    context: HttpContext,
    reply: FastifyReply,
    principal: Principal,
    batchSize: number | null = null,
  ) {
    this.#context = context;
    this.#reply = reply;
    this.#principal = principal;
    this.#batch = batchSize === null ? null : [];
    this.#unfinished = batchSize ?? 1;
    this.#acceptsStream = acceptsStream(reply.request.headers.accept);
  }

  /** Whether messages can be sent before the results. */
  get canStream(): boolean {
    return this.#acceptsStream;
  }

  /** Whether the client has closed the connection. */
  get isGone(): boolean {
    return this.#reply.raw.destroyed && this.#unfinished > 0;
  }

  /**
   * Runs `work` while the connection is watched, and not closed for being idle. `abort` is called when the client
   * disconnects, its credential ends or the server closes. The body counts as held meanwhile: the request keeps its
   * parameters until the response is sent.
   */
  async hold<T>(abort: () => void, work: () => Promise<T>): Promise<T> {
    this.#held.add(abort);
    if (this.#held.size === 1) this.#release = this.#watch();
    if (this.#isAborted) abort();
    try {
      return await work();
    } finally {
      this.#held.delete(abort);
      if (this.#held.size === 0) this.#release?.();
    }
  }

  send(json: string): void {
    if (this.#unfinished === 0 || !this.#acceptsStream) return;
    this.stream().write(frame(json));
  }

  /** Ends one request. Null: it gets no response. */
  finish(finished: Finished | null): void {
    this.#unfinished -= 1;
    if (finished !== null && this.#stream !== null) this.#stream.write(frame(finished.json));
    else if (finished !== null && this.#batch !== null) this.#batch.push(finished.json);
    if (this.#unfinished > 0) return;
    // Nothing is sent in place of a result: the stream ends without it.
    if (this.#stream === null && (finished !== null || this.#batch !== null)) this.#sendDocument(finished);
    else this.stream().end();
  }

  /** Turns the response into an event stream. It ends with the server and with the client's credential. */
  stream(): EventStream {
    if (this.#stream !== null) return this.#stream;
    this.#stream = this.#context.streams.open(this.#reply, this.#principal, () => this.#abort());
    for (const json of this.#batch ?? []) this.#stream.write(frame(json));
    return this.#stream;
  }

  #sendDocument(finished: Finished | null): void {
    if (this.#reply.raw.destroyed) return;
    if (this.#batch !== null) {
      if (this.#batch.length === 0) this.#reply.code(202).send();
      else sendDirect(this.#reply, 200, `[${this.#batch.join(',')}]`);
    } else if (finished !== null) {
      // Sets headers such as `Retry-After`, and counts the refusal.
      if (finished.failure !== null) prepareProblem(this.#reply, finished.failure);
      sendDirect(this.#reply, finished.status, finished.json);
    }
  }

  #abort(): void {
    this.#isAborted = true;
    for (const abort of this.#held) abort();
  }

  #watch(): () => void {
    const { clock } = this.#context;
    const disarm = this.#acceptsStream ? clock.after(STREAM_AFTER_MS, () => this.stream()) : null;
    const release = watchConnection(this.#context, this.#reply, () => this.#abort());
    return () => {
      disarm?.();
      release();
    };
  }
}

/** JSON text has no line breaks. */
export function frame(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

export function acceptsStream(accept: string | undefined): boolean {
  return accept !== undefined && (accept.includes('text/event-stream') || accept.includes('*/*'));
}
