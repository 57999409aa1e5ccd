import { reason } from '@patchboard/wire';
import type { FastifyRequest } from 'fastify';
import { failure } from '../../../core/failures.ts';
import { RequestRefused } from '../routes/problem.ts';
import { ByteBudget } from './byte-budget.ts';

/** Bodies up to this size are not counted. A larger body requires a credential. */
export const SMALL_BODY_BYTES = 16_384;

/**
 * Bounds the bytes of large bodies while they are received. They are buffers outside the heap that nothing else bounds: a
 * sender that stalls holds them until its request times out.
 */
export class ArrivingBodies {
  /** WebSocket messages being received share this budget. */
  readonly budget: ByteBudget;

  constructor(mostBytes: number) {
    this.budget = new ByteBudget(mostBytes);
  }

  /** Must be called before the body is read. Refuses the request if the budget is exceeded. */
  watch(request: FastifyRequest): void {
    const { raw, headers, response, routeOptions } = request;
    const announced = Number(headers['content-length'] ?? Infinity);
    // Fastify refuses a body over the limit without buffering it.
    const isRefused = announced !== Infinity && announced > routeOptions.bodyLimit;
    if (announced <= SMALL_BODY_BYTES || isRefused) return;
    const tenant = request.principal?.tenant ?? '';
    let held = 0;
    const stop = (): void => {
      raw.off('data', take).off('end', stop).off('close', stop);
      this.budget.release(tenant, held);
      held = 0;
    };
    const take = ({ length }: Buffer): void => {
      if (response?.headersSent === true) stop();
      else if (this.budget.fits(tenant, length)) {
        held += length;
        this.budget.reserve(tenant, length);
      } else {
        stop();
        // Deferred: the parser handles the same chunk next and may refuse it itself.
        queueMicrotask(() => refuse(request));
      }
    };
    raw.on('data', take).on('end', stop).on('close', stop);
  }
}

/** The body parser has an error listener only while it reads the body. */
function refuse({ raw }: FastifyRequest): void {
  if (raw.listenerCount('error') === 0) return;
  raw.emit('error', new RequestRefused(failure('overloaded', reason('bodies_arriving_full'))));
}
