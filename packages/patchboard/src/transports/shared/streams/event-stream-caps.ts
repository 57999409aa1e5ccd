import { reason } from '@patchboard/wire';
import { keyOf } from '../../../core/access/key-index.ts';
import type { Principal } from '../../../core/access/principal.ts';
import { failure, type Failure } from '../../../core/failures.ts';
import type { Limits } from '../../../core/limits.ts';
import type { Log } from '../../../core/ports.ts';
import { Counters } from '../../../core/counters.ts';
import type { EventStream } from './streams.ts';

/** Requests without a credential (local mode only) count as one credential. */
const LOCAL = 'local';

const ONE_FOR_ALL = 'GET /v1/events has the events of all calls: one stream is enough for an agent';

/**
 * Upper bounds on the streams of `/v1/events` and of a call's events: the number open, per credential and in total, and
 * their unread bytes. Streams and sockets of clients that run tools are not counted.
 */
export class EventStreamCaps {
  readonly #limits: Readonly<Limits>;
  readonly #log: Log;
  /** Unread bytes per stream at the last check: an upper bound, because clients read at any time. */
  readonly #unread: Map<EventStream, number> = new Map();
  readonly #ofCredential: Counters = new Counters();
  #unreadTotal = 0;
  #dropped = 0;

  constructor(limits: Readonly<Limits>, log: Log) {
    this.#limits = limits;
    this.#log = log;
  }

  get open(): number {
    return this.#unread.size;
  }

  get unreadBytes(): number {
    return this.#recount();
  }

  /** Number of streams cut off since the start because their clients did not read. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns null if one more stream may be opened. */
  refusal(principal: Principal): Failure | null {
    const { eventStreams, eventStreamsPerCredential } = this.#limits;
    if (this.#ofCredential.of(credentialOf(principal)) >= eventStreamsPerCredential) {
      const why = reason('event_streams_of_credential', { count: eventStreamsPerCredential });
      return failure('rate_limited', why, { recommendations: [ONE_FOR_ALL] });
    }
    if (this.open < eventStreams) return null;
    return failure('overloaded', reason('event_streams_of_server', { count: eventStreams }));
  }

  /** Counts the stream until it closes. */
  add(stream: EventStream, principal: Principal): void {
    const credential = credentialOf(principal);
    const leave = this.#ofCredential.enter(credential);
    this.#unread.set(stream, 0);
    stream.onWrite(() => this.#written(stream));
    stream.onClose(() => {
      leave();
      this.#unreadTotal -= this.#unread.get(stream) ?? 0;
      this.#unread.delete(stream);
      if (stream.droppedBytes === null) return;
      this.#dropped += 1;
      this.#log.warn('http.stream_dropped', { credential, unread_bytes: stream.droppedBytes });
    });
  }

  #written(stream: EventStream): void {
    this.#measure(stream);
    if (this.#unreadTotal > this.#limits.eventStreamsUnreadBytes) this.#dropLargest();
  }

  /** Drops streams until the total fits, those with the most unread bytes first. */
  #dropLargest(): void {
    if (this.#recount() <= this.#limits.eventStreamsUnreadBytes) return;
    const largestFirst = [...this.#unread].sort(([, one], [, other]) => other - one);
    for (const [stream] of largestFirst) {
      if (this.#unreadTotal <= this.#limits.eventStreamsUnreadBytes) return;
      stream.cutOff();
    }
  }

  #recount(): number {
    for (const stream of this.#unread.keys()) this.#measure(stream);
    return this.#unreadTotal;
  }

  #measure(stream: EventStream): void {
    const before = this.#unread.get(stream);
    if (before === undefined) return;
    const now = stream.unreadBytes;
    this.#unreadTotal += now - before;
    this.#unread.set(stream, now);
  }
}

/** The sessions of a key count as the key: more of them do not allow more streams. */
function credentialOf(principal: Principal): string {
  return keyOf(principal)?.id ?? principal.credential?.id ?? LOCAL;
}
