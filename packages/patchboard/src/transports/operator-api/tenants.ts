import { reason, type TenantView } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure, type Failure } from '../../core/failures.ts';
import type { KnownTenant } from '../../core/access/tenant-service.ts';
import { tenantText, type TenantText } from '../../core/access/tenant-text.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { isOfEveryTenant, operatorTokenMissing } from './operator-token.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { NOT_STORED, type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import {
  COUNT,
  listOf,
  mapOf,
  nullable,
  NUMBER,
  object,
  optional,
  PEER_ID,
  TEXT,
} from '../shared/routes/schemas.ts';

const RATE = object({
  burst: { ...COUNT, minimum: 1 },
  per_second: { ...NUMBER, exclusiveMinimum: 0 },
});
const LIMITS = optional({ calls: RATE, tools: mapOf(RATE) });

const TENANT = {
  tenant_id: TEXT,
  sites: nullable(listOf(TEXT)),
  packs: nullable(listOf(TEXT)),
  limits: LIMITS,
  source: { enum: ['config', 'operator'] },
};

const ID = object({ tenant_id: PEER_ID });

const listRoute: Route = {
  method: 'GET',
  url: '/v1/tenants',
  name: 'listTenants',
  api: 'operator',
  summary: 'The configured tenants: all with the operator token, otherwise your own.',
  scope: 'policy:write',
  responses: {
    200: {
      description: 'by name',
      schema: object({ tenants: listOf(object(TENANT)), next_cursor: { type: 'null' } }),
    },
  },
  refusals: [],
  handle: listTenants,
};

function listTenants(context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  const principal = principalOf(request);
  const all = context.services.tenants.list();
  const seen = isOfEveryTenant(principal) ? all : all.filter(({ id }) => id === principal.tenant);
  sendJson(reply, 200, JSON.stringify({ tenants: seen.map(tenantView), next_cursor: null }));
}

const putRoute: Route = route({
  method: 'PUT',
  url: '/v1/tenants/:tenant_id',
  name: 'replaceTenant',
  api: 'operator',
  summary: 'Set the sites, packs and limits of a tenant. Requires the operator token.',
  scope: 'policy:write',
  params: ID,
  body: optional({
    sites: { ...listOf(PEER_ID), description: 'default: any' },
    packs: { ...listOf(TEXT), description: 'default: all but those that must be named' },
    limits: LIMITS,
  }),
  responses: { 200: { description: 'the settings now in force', schema: object(TENANT) } },
  refusals: ['permission_denied', ...NOT_STORED],
  handle: putTenant,
});

async function putTenant(
  context: HttpContext,
  request: RequestWith<{ params: { tenant_id: string }; body: TenantText }>,
  reply: FastifyReply,
): Promise<void> {
  const { tenant_id: id } = request.params;
  const settings = request.body ?? {};
  const principal = principalOf(request);
  const refused = operatorTokenMissing(principal) ?? unknownPack(context, settings);
  if (refused !== null) return sendProblem(reply, refused);
  const known = await context.services.tenants.put(principal, id, settings);
  sendJson(reply, 200, JSON.stringify(tenantView(known)));
}

const removeRoute: Route = route({
  method: 'DELETE',
  url: '/v1/tenants/:tenant_id',
  name: 'forgetTenant',
  api: 'operator',
  summary:
    'Remove the settings that an operator made for a tenant: those of the config file apply again. Requires the operator token.',
  scope: 'policy:write',
  params: ID,
  responses: { 200: { description: 'the settings were removed', schema: object({ tenant_id: TEXT }) } },
  refusals: ['permission_denied', 'value_not_found', ...NOT_STORED],
  handle: removeTenant,
});

async function removeTenant(
  context: HttpContext,
  request: RequestWith<{ params: { tenant_id: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { tenant_id: id } = request.params;
  const principal = principalOf(request);
  const refused = operatorTokenMissing(principal);
  if (refused !== null) return sendProblem(reply, refused);
  if (await context.services.tenants.remove(principal, id)) {
    return sendJson(reply, 200, JSON.stringify({ tenant_id: id }));
  }
  sendProblem(reply, failure('value_not_found', reason('tenant_not_set', { tenant: id })));
}

function unknownPack({ engine }: HttpContext, { packs = [] }: TenantText): Failure | null {
  const missing = packs.find((name) => !engine.packs.has(name));
  if (missing === undefined) return null;
  const names = [...engine.packs].join(', ');
  return failure('body_invalid', reason('pack_unknown', { pack: missing, known: names }));
}

function tenantView({ id, settings, source }: KnownTenant): TenantView {
  const { limits = {} } = tenantText(settings);
  return { tenant_id: id, sites: settings.sites, packs: settings.packs, limits, source };
}

export const tenantAdminRoutes: readonly Route[] = [listRoute, putRoute, removeRoute];
