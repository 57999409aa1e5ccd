import { reason } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { denied, failure, type Failure } from '../../core/failures.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { foreignClient, principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { NOT_STORED, type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import {
  ANY,
  COUNT,
  FLAG,
  listOf,
  object,
  optional,
  PEER_ID,
  REASONS,
  TEXT,
} from '../shared/routes/schemas.ts';
import { decodeToolSpecs } from '../shared/views/tool-spec.ts';

const registerRoute: Route = route({
  method: 'POST',
  url: '/internal/tools/register',
  name: 'registerTools',
  api: 'internal',
  summary:
    'Register client tools. Each is accepted or rejected on its own, and registrations survive restarts. A name that was ever `destructive` or `requires_approval` stays so, unless an operator registers it.',
  scope: 'tools:serve',
  body: object({
    client_id: PEER_ID,
    tools: {
      ...listOf(ANY),
      description:
        '`{name, schema, timeout_ms?, description?, metadata?, output_schema?, annotations?}` each; checked one by one',
    },
  }),
  responses: {
    200: {
      description: '`ok` is false when anything was rejected',
      schema: object({
        ok: FLAG,
        registered_count: COUNT,
        rejected: listOf(object({ name: TEXT, code: TEXT, reason: TEXT, reasons: REASONS }, ['reasons'])),
      }),
    },
  },
  refusals: ['permission_denied', ...NOT_STORED],
  handle: register,
});

async function register(
  context: HttpContext,
  request: RequestWith<{ body: { client_id: string; tools: readonly unknown[] } }>,
  reply: FastifyReply,
): Promise<void> {
  const { client_id: clientId, tools } = request.body;
  const principal = principalOf(request);
  const foreign = foreignClient(principal, clientId);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const { specs, rejected: malformed } = decodeToolSpecs(tools);
  const report = await context.engine.clientTools.register(
    principal.tenant,
    clientId,
    specs,
    principal.kind === 'operator' ? principal.id : null,
  );
  const rejected = [...malformed, ...report.rejected];
  const registered_count = report.registered.length;
  sendJson(reply, 200, JSON.stringify({ ok: rejected.length === 0, registered_count, rejected }));
}

const unregisterAllRoute: Route = route({
  method: 'DELETE',
  url: '/internal/clients/:client_id/tools',
  name: 'unregisterTools',
  api: 'internal',
  summary: 'Unregister all tools of a client.',
  scope: 'tools:serve',
  params: object({ client_id: PEER_ID }),
  responses: {
    200: { description: 'what was removed', schema: object({ ok: FLAG, removed: listOf(TEXT) }) },
  },
  refusals: ['permission_denied', ...NOT_STORED],
  handle: unregister,
});

const unregisterOneRoute: Route = route({
  ...unregisterAllRoute,
  url: '/internal/clients/:client_id/tools/:name',
  name: 'unregisterTool',
  summary: 'Unregister one tool of a client.',
  params: object({ client_id: PEER_ID, name: TEXT }),
  query: optional({
    forget_risk: {
      ...FLAG,
      description: 'operators only: forget that the name was ever `destructive` or `requires_approval`',
    },
  }),
  refusals: [...unregisterAllRoute.refusals, 'tool_not_found'],
  handle: unregisterOne,
});

async function unregister(
  context: HttpContext,
  request: RequestWith<{ params: { client_id: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { client_id: clientId } = request.params;
  const principal = principalOf(request);
  const foreign = foreignClient(principal, clientId);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const removed = await context.engine.clientTools.unregister(principal.tenant, clientId, null);
  sendJson(reply, 200, JSON.stringify({ ok: true, removed }));
}

async function unregisterOne(
  context: HttpContext,
  request: RequestWith<{ params: { client_id: string; name: string }; query: { forget_risk?: boolean } }>,
  reply: FastifyReply,
): Promise<void> {
  const { client_id: clientId, name } = request.params;
  const { forget_risk: forgetsRisk = false } = request.query;
  const principal = principalOf(request);
  const refused = foreignClient(principal, clientId) ?? (forgetsRisk ? mayNotForget(principal) : null);
  if (refused !== null) {
    sendProblem(reply, refused);
    return;
  }
  const { clientTools } = context.engine;
  const { tenant } = principal;
  const { removed, hadRisk } = forgetsRisk
    ? await clientTools.forgetRisk(tenant, clientId, name, principal.id)
    : { removed: await clientTools.unregister(tenant, clientId, name), hadRisk: false };
  if (removed.length === 0 && !hadRisk) {
    sendProblem(reply, failure('tool_not_found', reason('tool_unknown', { tool: name })));
    return;
  }
  sendJson(reply, 200, JSON.stringify({ ok: true, removed }));
}

function mayNotForget(principal: Principal): Failure | null {
  if (principal.kind === 'operator') return null;
  return failure('permission_denied', denied(reason('risk_for_operators')));
}

export const registrationRoutes: readonly Route[] = [registerRoute, unregisterAllRoute, unregisterOneRoute];
