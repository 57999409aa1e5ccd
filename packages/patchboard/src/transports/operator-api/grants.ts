import { rfc3339 } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Grant } from '../../core/access/grants.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { idOf, type IdRequest, NOT_STORED, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { ID_PARAMS, listOf, nullable, object, TEXT, TIME } from '../shared/routes/schemas.ts';
import { PREDICATE } from './approvals.ts';

const GRANT = object({
  grant_id: TEXT,
  tool_name: TEXT,
  tool_version: TEXT,
  agent_id: nullable(TEXT),
  scope: { enum: ['exact', 'predicate', 'tool'] },
  args_sha256: nullable(TEXT),
  when: listOf(PREDICATE),
  created_at: TIME,
  created_by: TEXT,
  expires_at: nullable(TIME),
});

const listRoute: Route = {
  method: 'GET',
  url: '/v1/grants',
  name: 'listGrants',
  api: 'operator',
  summary: 'Standing grants: calls that need no approval from now on.',
  scope: 'approvals:decide',
  responses: {
    200: {
      description: 'all grants of the tenant',
      schema: object({ grants: listOf(GRANT), next_cursor: { type: 'null' } }),
    },
  },
  refusals: [],
  handle: listGrants,
};

function listGrants(context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  const grants = context.services.grants.list(principalOf(request)).map(grantView);
  sendJson(reply, 200, JSON.stringify({ grants, next_cursor: null }));
}

const revokeRoute: Route = route({
  method: 'DELETE',
  url: '/v1/grants/:id',
  name: 'revokeGrant',
  api: 'operator',
  summary: 'Revoke a grant: its calls need approval again.',
  scope: 'approvals:decide',
  params: ID_PARAMS,
  responses: { 200: { description: 'the revoked grant', schema: GRANT } },
  refusals: ['grant_not_found', ...NOT_STORED],
  handle: revokeGrant,
});

async function revokeGrant(context: HttpContext, request: IdRequest, reply: FastifyReply): Promise<void> {
  const id = idOf(request);
  const revoked = await context.services.grants.revoke(principalOf(request), id);
  if ('code' in revoked) sendProblem(reply, revoked);
  else sendJson(reply, 200, JSON.stringify(grantView(revoked)));
}

function grantView(grant: Grant): Record<string, unknown> {
  const { scope } = grant;
  return {
    grant_id: grant.id,
    tool_name: grant.toolName,
    tool_version: grant.toolVersion,
    agent_id: grant.agentId,
    scope: scope.kind,
    args_sha256: scope.kind === 'exact' ? scope.argsSha256 : null,
    when: scope.kind === 'predicate' ? scope.when : [],
    created_at: rfc3339(grant.createdAt),
    created_by: grant.createdBy,
    expires_at: grant.expiresAt === null ? null : rfc3339(grant.expiresAt),
  };
}

export const grantRoutes: readonly Route[] = [listRoute, revokeRoute];
