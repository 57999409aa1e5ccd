import { reason } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEFAULT_TENANT, seesWholeServer } from '../../core/access/principal.ts';
import { denied, failure } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { TEXT } from '../shared/routes/schemas.ts';

const openapiRoute: Route = {
  method: 'GET',
  url: '/openapi.json',
  name: 'openapi',
  api: 'operator',
  summary: 'The OpenAPI document of this server.',
  scope: null,
  responses: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
  refusals: [],
  handle: openapi,
};

function openapi(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  sendJson(reply, 200, context.openapi());
}

const metricsRoute: Route = {
  method: 'GET',
  url: '/metrics',
  name: 'metrics',
  api: 'operator',
  summary:
    'Prometheus metrics of the whole server: for the operator token, and for credentials of tenant `default`.',
  scope: 'metrics:read',
  responses: { 200: { description: 'the text format of Prometheus', schema: TEXT, type: 'text/plain' } },
  refusals: [],
  handle: metrics,
};

async function metrics(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const principal = principalOf(request);
  if (principal.tenant !== DEFAULT_TENANT && !seesWholeServer(principal)) {
    const recommendations = ['GET /v1/stats has the counts of your own tenant'];
    const why = denied(reason('metrics_of_server'));
    sendProblem(reply, failure('permission_denied', why, { recommendations }));
    return;
  }
  const text = await context.metrics.text();
  reply.header('content-type', context.metrics.contentType).send(text);
}

export const descriptionRoutes: readonly Route[] = [openapiRoute, metricsRoute];
