import { getHeapStatistics } from 'node:v8';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance } from 'fastify';
import { failure } from '../../core/failures.ts';
import type { HttpLimits } from './http-limits.ts';
import { RequestRefused } from './problem.ts';

/** Past this share of the heap's limit the collector takes the time that answers need. */
const HEAP_SHARE = 0.9;

/**
 * A server that cannot keep up says so at once, instead of answering everybody late.
 * Health and metrics stay open: that is when somebody looks.
 */
export function refuseUnderPressure(app: FastifyInstance, limits: HttpLimits): void {
  app.register(underPressure, {
    maxEventLoopDelay: limits.eventLoopDelayMs,
    maxHeapUsedBytes: Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE),
    // Rejecting, because whatever else it answers lets the request go on.
    pressureHandler: async (request) => {
      if (!['/healthz', '/metrics'].includes(request.url)) throw new RequestRefused(failure('overloaded'));
    },
  });
}
