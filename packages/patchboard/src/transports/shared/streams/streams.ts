import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';
import { Counters } from '../../../core/counters.ts';
import type { HttpLimits } from '../http/http-limits.ts';
import type { OpenStreams } from './open-streams.ts';
import { API_HEADERS } from '../http/security-headers.ts';

const HEARTBEAT = ': still here\n\n';

/** One reader of a long answer. What it leaves unread is bounded: over the bound it is dropped. */
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
    // A socket that breaks while we write tells it here; `close` follows.
    reply.raw.on('error', () => this.#leave());
    // A client that reset while its request was authenticated or looked up: `close` was emitted before and does not come again.
    if (reply.raw.destroyed) this.#isOpen = false;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** What was written and is still in this process. */
  get unreadBytes(): number {
    return this.#reply.raw.writableLength;
  }

  /** What was unread when it was cut off; null: it was not. */
  get droppedBytes(): number | null {
    return this.#droppedBytes;
  }

  /** Called after each write; there is one listener. */
  onWrite(listener: () => void): void {
    this.#written = listener;
  }

  /** Called once, when the reader is gone or was ended; at once if that is so already. */
  onClose(listener: () => void): void {
    if (this.#isOpen) this.#gone.add(listener);
    else listener();
  }

  write(text: string): void {
    if (!this.#isOpen) return;
    const { raw } = this.#reply;
    // What lies there from before counts, not the text itself: one large event is no reader's fault.
    if (raw.writableLength <= this.#bufferBytes) {
      raw.write(text);
      this.#written?.();
      return;
    }
    this.cutOff();
  }

  /** Resolves when what was written has left, or nobody reads any more; null: nothing to wait for. */
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

  /** Ends it so that the reader notices: what it got is not the whole. */
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

/** Every stream that is open: one heartbeat for all, and an end for all when the server closes. */
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

  /** Those that the tenant's principals opened. */
  sizeOf(tenant: string): number {
    return this.#byTenant.of(tenant);
  }

  /** Takes the reply over: from here on the stream answers. */
  open(reply: FastifyReply, principal: Principal): EventStream {
    const stream = this.#take(reply, 'text/event-stream; charset=utf-8');
    stream.write(': open\n\n');
    this.#open.add(stream);
    this.#beat();
    const leave = this.#openStreams.add(() => stream.end(), principal);
    const uncount = this.#byTenant.enter(principal.tenant);
    stream.onClose(() => {
      leave();
      uncount();
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#rest();
    });
    return stream;
  }

  /** A long answer that ends by itself; if it has to end before, it does not look whole. */
  openDocument(reply: FastifyReply, principal: Principal, contentType: string): EventStream {
    const stream = this.#take(reply, contentType);
    stream.onClose(this.#openStreams.add(() => stream.cutOff(), principal));
    return stream;
  }

  #take(reply: FastifyReply, contentType: string): EventStream {
    reply.hijack();
    reply.request.counter?.count(200);
    const stream = new EventStream(reply, this.#limits.streamBufferBytes);
    reply.raw.writeHead(200, {
      ...API_HEADERS,
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': contentType,
      // Proxies that buffer would hold events back.
      'x-accel-buffering': 'no',
      // A closing server need not wait for the socket to fall idle.
      connection: 'close',
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
