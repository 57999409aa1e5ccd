import type { FastifyRequest } from 'fastify';
import { failure } from '../../../core/failures.ts';
import { RequestRefused } from '../routes/problem.ts';
import { SharedRoom } from './shared-room.ts';

/** Bodies up to this size are not counted, and none larger is taken without a credential. */
export const SMALL_BODY_BYTES = 16_384;

/**
 * Counts the bytes of large bodies while they arrive. They are buffers outside the heap, which nothing else bounds: a sender
 * that stalls holds them until its request is late.
 */
export class ArrivingBodies {
  /** Messages that arrive over sockets take from it too. */
  readonly room: SharedRoom;

  constructor(mostBytes: number) {
    this.room = new SharedRoom(mostBytes);
  }

  /** Call it before anything reads the body. Beyond the bound the request is refused. */
  watch(request: FastifyRequest): void {
    const { raw, headers, response, routeOptions } = request;
    const announced = Number(headers['content-length'] ?? Infinity);
    // Of one that is too large nothing is kept.
    const isRefused = announced !== Infinity && announced > routeOptions.bodyLimit;
    if (announced <= SMALL_BODY_BYTES || isRefused) return;
    const tenant = request.principal?.tenant ?? '';
    let held = 0;
    const stop = (): void => {
      raw.off('data', take).off('end', stop).off('close', stop);
      this.room.give(tenant, held);
      held = 0;
    };
    const take = ({ length }: Buffer): void => {
      if (response?.headersSent === true) stop();
      else if (this.room.has(tenant, length)) {
        held += length;
        this.room.take(tenant, length);
      } else {
        stop();
        // Later, as the parser is about to take the same piece, and may refuse it itself.
        queueMicrotask(() => refuse(request));
      }
    };
    raw.on('data', take).on('end', stop).on('close', stop);
  }
}

/** The parser listens for errors of the body as long as it reads it. */
function refuse({ raw }: FastifyRequest): void {
  if (raw.listenerCount('error') === 0) return;
  const message = 'the bodies that arrive at this server take as much memory as they may';
  raw.emit('error', new RequestRefused(failure('overloaded', message)));
}
