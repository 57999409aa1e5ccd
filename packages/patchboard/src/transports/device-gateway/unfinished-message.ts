import { SMALL_BODY_BYTES } from '../shared/http/arriving-bodies.ts';
import type { SharedRoom } from '../shared/http/shared-room.ts';

/** Looks at it, one with each heartbeat, in which a message must become whole. */
const MOST_LOOKS = 6;
/** Of a control frame, besides its data: two bytes and the mask. */
const CONTROL_BYTES = 6;

/** What the unfinished messages of a socket are counted with. */
export interface UnfinishedMessageParts {
  readonly room: SharedRoom;
  readonly tenant: string;
  /** Bytes that the socket has read so far. */
  readonly bytesRead: () => number;
}

/**
 * Bytes of a message that has begun and is not whole. The WebSocket library collects its fragments and reports nothing of
 * them, and control frames may come in between: a peer could hold them for as long as it answers pings.
 */
export class UnfinishedMessage {
  readonly #parts: UnfinishedMessageParts;
  /** Bytes read that belong to messages and control frames that are whole. */
  #whole: number;
  #held = 0;
  #looks = 0;

  constructor(parts: UnfinishedMessageParts) {
    this.#parts = parts;
    this.#whole = parts.bytesRead();
  }

  /** A message is whole. What was read with it of the next one is not counted. */
  finished(): void {
    this.#whole = this.#parts.bytesRead();
    this.#looks = 0;
  }

  /** A control frame with this much data came in between. */
  control(bytes: number): void {
    this.#whole += CONTROL_BYTES + bytes;
  }

  /** False: it takes too long, or there is no room for it. */
  look(): boolean {
    const { room, tenant, bytesRead } = this.#parts;
    const unfinished = bytesRead() - this.#whole;
    const bytes = unfinished > SMALL_BODY_BYTES ? unfinished : 0;
    this.#looks = bytes === 0 ? 0 : this.#looks + 1;
    if (this.#looks > MOST_LOOKS) return false;
    if (bytes > this.#held && !room.has(tenant, bytes - this.#held)) return false;
    this.#hold(bytes);
    return true;
  }

  /** The connection has ended. */
  letGo(): void {
    this.#hold(0);
  }

  #hold(bytes: number): void {
    this.#parts.room.take(this.#parts.tenant, bytes - this.#held);
    this.#held = bytes;
  }
}
