import type { FastifyRequest } from 'fastify';
import { SharedRoom } from './shared-room.ts';

/** Text, its copy as arguments, and what is hashed of it; at two bytes for a character where one is not Latin-1. */
const BYTES_PER_BYTE = 3;
/** An object with a key of its own is the largest value for its length. */
const BYTES_PER_VALUE = 128;

/**
 * Counts what the bodies of requests that are under way take of the heap. A body is held from before it is parsed until
 * its response has left, or until a handler lets go of it.
 */
export class HeldBodies {
  readonly #room: SharedRoom;

  constructor(mostBytes: number) {
    this.#room = new SharedRoom(mostBytes);
  }

  get total(): number {
    return this.#room.total;
  }

  /** False: there is no room for the text now. */
  holdText(request: FastifyRequest, bytes: number): boolean {
    return this.#hold(request, bytes * BYTES_PER_BYTE);
  }

  /** The same for the values that it holds. */
  holdValues(request: FastifyRequest, values: number): boolean {
    return this.#hold(request, values * BYTES_PER_VALUE);
  }

  /** The body is not needed any more, though the response may take its time. */
  letGo(request: FastifyRequest): void {
    request.body = undefined;
    this.#give(request);
  }

  #hold(request: FastifyRequest, weight: number): boolean {
    const tenant = tenantOf(request);
    // What is under way alone always fits: limits of other kinds bound one body.
    const isFirst = this.total === request.heldBytes;
    if (!isFirst && !this.#room.has(tenant, weight)) {
      this.#give(request);
      return false;
    }
    if (request.heldBytes === 0) request.response?.once('close', () => this.#give(request));
    request.heldBytes += weight;
    this.#room.take(tenant, weight);
    return true;
  }

  #give(request: FastifyRequest): void {
    const { heldBytes } = request;
    if (heldBytes === 0) return;
    request.heldBytes = 0;
    this.#room.give(tenantOf(request), heldBytes);
  }
}

/** Routes that ask for no credential share one. */
function tenantOf({ principal }: FastifyRequest): string {
  return principal?.tenant ?? '';
}
