import { SMALL_BODY_BYTES } from '../shared/http/arriving-bodies.ts';
import type { ByteBudget } from '../shared/http/byte-budget.ts';

/** A message must be complete within this number of checks; there is one per heartbeat. */
const MAX_CHECKS = 6;
/** Header size of a control frame: two bytes and the mask. */
const CONTROL_BYTES = 6;

/** Dependencies of `UnfinishedMessage`. */
export interface UnfinishedMessageParts {
  readonly budget: ByteBudget;
  readonly tenant: string;
  /** Returns the number of bytes that the socket has read so far. */
  readonly bytesRead: () => number;
}

/**
 * Bounds the bytes of an incomplete message. The WebSocket library buffers fragments without reporting them, and control
 * frames may come in between: a peer could hold that memory for as long as it replies to pings.
 */
export class UnfinishedMessage {
  readonly #parts: UnfinishedMessageParts;
  /** Bytes read that belong to complete messages and control frames. */
  #complete: number;
  #held = 0;
  #checks = 0;

  constructor(parts: UnfinishedMessageParts) {
    this.#parts = parts;
    this.#complete = parts.bytesRead();
  }

  /** A message is complete. Bytes of the next message that were read with it are not counted. */
  finished(): void {
    this.#complete = this.#parts.bytesRead();
    this.#checks = 0;
  }

  /** A control frame with this many data bytes was received. */
  control(bytes: number): void {
    this.#complete += CONTROL_BYTES + bytes;
  }

  /** Returns false if the message takes too long or exceeds the budget. */
  check(): boolean {
    const { budget, tenant, bytesRead } = this.#parts;
    const unfinished = bytesRead() - this.#complete;
    const bytes = unfinished > SMALL_BODY_BYTES ? unfinished : 0;
    this.#checks = bytes === 0 ? 0 : this.#checks + 1;
    if (this.#checks > MAX_CHECKS) return false;
    if (bytes > this.#held && !budget.fits(tenant, bytes - this.#held)) return false;
    this.#hold(bytes);
    return true;
  }

  /** Releases the counted bytes when the connection has ended. */
  release(): void {
    this.#hold(0);
  }

  #hold(bytes: number): void {
    this.#parts.budget.reserve(this.#parts.tenant, bytes - this.#held);
    this.#held = bytes;
  }
}
