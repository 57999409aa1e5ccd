import type { FastifyRequest } from 'fastify';
import { ByteBudget } from './byte-budget.ts';

/** Heap bytes per body byte: the text, its copy as arguments and the hashed copy; strings beyond Latin-1 take two bytes per character. */
const BYTES_PER_BYTE = 3;
/** Heap bytes per JSON value. The worst case is an object with a unique key. */
const BYTES_PER_VALUE = 128;

/**
 * Bounds the heap bytes of request bodies. A body counts from before it is parsed until its response is closed or a handler
 * releases it.
 */
export class HeldBodies {
  readonly #budget: ByteBudget;

  constructor(mostBytes: number) {
    this.#budget = new ByteBudget(mostBytes);
  }

  get total(): number {
    return this.#budget.total;
  }

  /** Returns false if the text does not fit now. */
  holdText(request: FastifyRequest, bytes: number): boolean {
    return this.#hold(request, bytes * BYTES_PER_BYTE);
  }

  /** Returns false if the parsed values do not fit now. */
  holdValues(request: FastifyRequest, values: number): boolean {
    return this.#hold(request, values * BYTES_PER_VALUE);
  }

  /** Drops the body before the response is sent. */
  release(request: FastifyRequest): void {
    request.body = undefined;
    this.#release(request);
  }

  #hold(request: FastifyRequest, weight: number): boolean {
    const tenant = tenantOf(request);
    // The only body always fits: other limits bound the size of one body.
    const isOnly = this.total === request.heldBytes;
    if (!isOnly && !this.#budget.fits(tenant, weight)) {
      this.#release(request);
      return false;
    }
    if (request.heldBytes === 0) request.response?.once('close', () => this.#release(request));
    request.heldBytes += weight;
    this.#budget.reserve(tenant, weight);
    return true;
  }

  #release(request: FastifyRequest): void {
    const { heldBytes } = request;
    if (heldBytes === 0) return;
    request.heldBytes = 0;
    this.#budget.release(tenantOf(request), heldBytes);
  }
}

/** All requests without a credential count as one tenant. */
function tenantOf({ principal }: FastifyRequest): string {
  return principal?.tenant ?? '';
}
