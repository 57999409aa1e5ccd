import { reason, rfc3339 } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure, foreignText } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { COUNT, nullable, object, TEXT, TIME } from '../shared/routes/schemas.ts';

const SANDBOX = object({
  provider: { enum: ['bubblewrap', 'seatbelt', 'none'] },
  canary: {
    type: 'object',
    description: 'result of each escape attempt made at the start',
    additionalProperties: { enum: ['held', 'broken'] },
  },
  off: { type: 'boolean', description: 'commands and writes are refused' },
  notice: nullable({ ...TEXT, description: 'what commands can access without a sandbox' }),
});

const healthRoute: Route = {
  method: 'GET',
  url: '/healthz',
  name: 'health',
  api: 'operator',
  summary: 'The process is alive.',
  scope: null,
  responses: {
    200: {
      description: 'alive',
      schema: object({
        status: { const: 'ok' },
        version: TEXT,
        started_at: TIME,
        uptime_ms: COUNT,
        sandbox: nullable(SANDBOX),
      }),
    },
  },
  refusals: [],
  handle: health,
};

function health(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  sendJson(reply, 200, JSON.stringify({ status: 'ok', ...lifeOf(context), sandbox: context.sandbox }));
}

const shortHealthRoute: Route = { ...healthRoute, url: '/health', name: 'healthShort' };

const readyRoute: Route = {
  ...healthRoute,
  url: '/readyz',
  name: 'ready',
  summary: 'The server takes calls; 503 while it shuts down, or while its store accepts no write.',
  responses: { 200: { description: 'ready', schema: object({ status: { const: 'ready' } }) } },
  refusals: ['overloaded', 'storage_unavailable'],
  handle: ready,
};

function ready(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  const isLeaving = context.isLeaving?.() === true;
  if (isLeaving || context.engine.isDraining || context.openStreams.isClosing) {
    sendProblem(reply, failure('overloaded', reason('server_shutting_down')));
    return;
  }
  const problem = context.store.writeProblem();
  if (problem !== null) sendProblem(reply, failure('storage_unavailable', foreignText(problem)));
  else sendJson(reply, 200, '{"status":"ready"}');
}

export function lifeOf({ version, startedAt, clock }: HttpContext): {
  version: string;
  started_at: string;
  uptime_ms: number;
} {
  // The wall clock may have been set back since the start.
  const uptime = Math.max(0, Math.round(clock.now() - startedAt));
  return { version, started_at: rfc3339(startedAt), uptime_ms: uptime };
}

export const healthRoutes: readonly Route[] = [healthRoute, shortHealthRoute, readyRoute];
