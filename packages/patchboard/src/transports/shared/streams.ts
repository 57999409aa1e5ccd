import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../core/ports.ts';
import type { Principal } from '../../core/principal.ts';
import type { HttpLimits } from './http-limits.ts';
import type { Openings } from './openings.ts';
import { API_HEADERS } from './security-headers.ts';

const HEARTBEAT = ': still here\n\n';

/** One reader of server-sent events. What it leaves unread is bounded: over the bound it is dropped. */
export class EventStream {
  readonly #reply: FastifyReply;
  readonly #bufferBytes: number;
  readonly #gone: Set<() => void> = new Set();
  #isOpen = true;

  constructor(reply: FastifyReply, bufferBytes: number) {
    this.#reply = reply;
    this.#bufferBytes = bufferBytes;
    reply.raw.on('close', () => this.#leave());
    // A socket that breaks while we write tells it here; `close` follows.
    reply.raw.on('error', () => this.#leave());
  }

  get isOpen(): boolean {
    return this.#isOpen;
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
      return;
    }
    raw.destroy();
    this.#leave();
  }

  /** Resolves when what was written has left, or nobody reads any more; null: nothing to wait for. */
  drained(): Promise<void> | null {
    const { raw } = this.#reply;
    if (!this.#isOpen || !raw.writableNeedDrain) return null;
    return new Promise<void>((resolve) => {
      raw.once('drain', resolve);
      this.onClose(resolve);
    });
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#reply.raw.end();
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
  readonly #openings: Openings;
  readonly #open: Set<EventStream> = new Set();
  #disarm: (() => void) | null = null;

  constructor(clock: Clock, limits: HttpLimits, openings: Openings) {
    this.#clock = clock;
    this.#limits = limits;
    this.#openings = openings;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes the reply over: from here on the stream answers. */
  open(reply: FastifyReply, principal: Principal): EventStream {
    reply.hijack();
    const stream = new EventStream(reply, this.#limits.streamBufferBytes);
    reply.raw.writeHead(200, {
      ...API_HEADERS,
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies that buffer would hold events back.
      'x-accel-buffering': 'no',
      // A closing server need not wait for the socket to fall idle.
      connection: 'close',
    });
    stream.write(': open\n\n');
    this.#open.add(stream);
    this.#beat();
    const leave = this.#openings.add(() => stream.end(), principal);
    stream.onClose(() => {
      leave();
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#rest();
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
