import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';
import { Counters } from '../../../core/counters.ts';
import type { HttpLimits } from '../http/http-limits.ts';
import type { OpenStreams } from './open-streams.ts';
import { API_HEADERS } from '../http/security-headers.ts';

const HEARTBEAT = ': still here\n\n';

/** A streamed response to one client. It is cut off if the client leaves too much unread. */
export class EventStream {
  readonly #reply: FastifyReply;
  readonly #bufferBytes: number;
  readonly #gone: Set<() => void> = new Set();
  #isOpen = true;
  #written: (() => void) | null = null;
  #droppedBytes: number | null = null;
  #draining: Promise<void> | null = null;

  constructor(reply: FastifyReply, bufferBytes: number) {
    this.#reply = reply;
    this.#bufferBytes = bufferBytes;
    reply.raw.on('close', () => this.#leave());
    // A socket that breaks during a write emits `error`, then `close`.
    reply.raw.on('error', () => this.#leave());
    // If the client disconnected before this point, `close` was already emitted.
    if (reply.raw.destroyed) this.#isOpen = false;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Bytes written that are still buffered in this process. */
  get unreadBytes(): number {
    return this.#reply.raw.writableLength;
  }

  /** Unread bytes when the stream was cut off; null if it was not. */
  get droppedBytes(): number | null {
    return this.#droppedBytes;
  }

  /** The listener is called after each write; there is only one. */
  onWrite(listener: () => void): void {
    this.#written = listener;
  }

  /** The listener is called once when the stream closes, immediately if it is closed. */
  onClose(listener: () => void): void {
    if (this.#isOpen) this.#gone.add(listener);
    else listener();
  }

  write(chunk: string | Uint8Array): void {
    if (!this.#isOpen) return;
    const { raw } = this.#reply;
    // Counts earlier bytes, not this chunk: a single large event must not drop the client.
    if (raw.writableLength <= this.#bufferBytes) {
      raw.write(chunk);
      this.#written?.();
      return;
    }
    this.cutOff();
  }

  /** Resolves when the buffer has drained or the stream is closed; null if there is nothing to wait for. */
  drained(): Promise<void> | null {
    const { raw } = this.#reply;
    if (!this.#isOpen || !raw.writableNeedDrain) return null;
    this.#draining ??= new Promise<void>((resolve) => {
      const done = (): void => {
        raw.off('drain', done);
        this.#gone.delete(done);
        this.#draining = null;
        resolve();
      };
      raw.on('drain', done);
      this.#gone.add(done);
    });
    return this.#draining;
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#reply.raw.end();
    this.#leave();
  }

  /** Destroys the connection, so that the client sees an incomplete response. */
  cutOff(): void {
    if (!this.#isOpen) return;
    this.#droppedBytes = this.unreadBytes;
    this.#reply.raw.destroy();
    this.#leave();
  }

  #leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const listener of this.#gone) listener();
    this.#gone.clear();
  }
}

/** All open streams, with one heartbeat timer for all. */
export class Streams {
  readonly #clock: Clock;
  readonly #limits: HttpLimits;
  readonly #openStreams: OpenStreams;
  readonly #open: Set<EventStream> = new Set();
  readonly #byTenant: Counters = new Counters();
  #disarm: (() => void) | null = null;

  constructor(clock: Clock, limits: HttpLimits, openStreams: OpenStreams) {
    this.#clock = clock;
    this.#limits = limits;
    this.#openStreams = openStreams;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The number of streams opened by principals of the tenant. */
  sizeOf(tenant: string): number {
    return this.#byTenant.of(tenant);
  }

  /**
   * Takes over the reply and starts an event stream. `end` is called when the server closes and when the credential is no
   * longer valid; by default it ends the stream.
   */
  open(reply: FastifyReply, principal: Principal, end?: () => void): EventStream {
    const stream = this.#take(reply, {
      'content-type': 'text/event-stream; charset=utf-8',
      // Stops proxies from buffering events.
      'x-accel-buffering': 'no',
      // So a closing server need not wait for an idle socket.
      connection: 'close',
    });
    stream.write(': open\n\n');
    this.#open.add(stream);
    this.#beat();
    const leave = this.#openStreams.add(end ?? (() => stream.end()), principal);
    const uncount = this.#byTenant.enter(principal.tenant);
    stream.onClose(() => {
      leave();
      uncount();
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#rest();
    });
    return stream;
  }

  /**
   * Starts a streamed document. If the server has to end it early, the client sees an incomplete response. The connection
   * stays open after it: Node's fetch ends the process of a client whose connection ends while it reads slowly
   * (nodejs/undici#5360).
   */
  openDocument(reply: FastifyReply, principal: Principal, contentType: string): EventStream {
    const stream = this.#take(reply, { 'content-type': contentType, 'x-accel-buffering': 'no' });
    stream.onClose(this.#openStreams.add(() => stream.cutOff(), principal));
    return stream;
  }

  #take(reply: FastifyReply, headers: OutgoingHttpHeaders): EventStream {
    reply.hijack();
    reply.request.counter?.count(200);
    const stream = new EventStream(reply, this.#limits.streamBufferBytes);
    reply.raw.writeHead(200, {
      ...API_HEADERS,
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      ...headers,
    });
    return stream;
  }

  #beat(): void {
    this.#disarm ??= this.#clock.after(this.#limits.heartbeatMs, () => {
      this.#disarm = null;
      for (const stream of this.#open) stream.write(HEARTBEAT);
      if (this.#open.size > 0) this.#beat();
    });
  }

  #rest(): void {
    this.#disarm?.();
    this.#disarm = null;
  }
}
