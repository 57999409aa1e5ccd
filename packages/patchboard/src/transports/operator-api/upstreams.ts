import { reason, UPSTREAM_KINDS, type AcceptContractBody } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../core/access/principal.ts';
import { failure, type Failure } from '../../core/failures.ts';
import type { UpstreamReport } from '../../core/upstreams/upstream-service.ts';
import { packOf } from '../../core/upstreams/upstream-tools.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { NOT_STORED, type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import {
  ANNOTATIONS,
  ANY,
  COUNT,
  FLAG,
  listOf,
  mapOf,
  nullable,
  object,
  REASONS,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';
import { upstreamView } from '../shared/views/upstream-view.ts';
import { isOfEveryTenant, operatorTokenMissing } from './operator-token.ts';

const DIFFERENCE = object({ path: TEXT, before: ANY, after: ANY }, ['before', 'after']);
const TOOL = object(
  {
    name: TEXT,
    version: TEXT,
    annotations: ANNOTATIONS,
    change: {
      ...object({ from: TEXT, since: TIME, differences: listOf(DIFFERENCE) }),
      description: 'present if the contract differs from the accepted one, whose version is `from`',
    },
  },
  ['change'],
);
const LATENCY = object({ median: { type: 'number' }, p95: { type: 'number' } });
const UPSTREAM = object({
  name: TEXT,
  kind: { enum: UPSTREAM_KINDS },
  state: { enum: ['connecting', 'connected', 'disconnected', 'failed'] },
  protocol: nullable(TEXT),
  server: nullable(object({ name: TEXT, version: TEXT })),
  address: { ...TEXT, description: 'an origin or the name of a command' },
  pack: { ...TEXT, description: 'the name for `packs` of a tenant' },
  tenants: { ...nullable(listOf(TEXT)), description: 'null without the operator token' },
  on_change: { enum: ['ask', 'run', 'refuse'] },
  concurrency: COUNT,
  sandboxed: { ...nullable(FLAG), description: 'null: it has no process' },
  tools: listOf(TOOL),
  rejected: listOf(object({ name: TEXT, code: TEXT, reason: TEXT, reasons: REASONS }, ['reasons'])),
  in_flight: COUNT,
  latency_ms: nullable(LATENCY),
  last_error: nullable(object({ message: TEXT, at: TIME })),
  connected_at: nullable(TIME),
  next_attempt_at: nullable(TIME),
});

const NAME = object({ name: TEXT });

const listRoute: Route = {
  method: 'GET',
  url: '/v1/upstreams',
  name: 'listUpstreams',
  api: 'operator',
  summary:
    'The MCP servers and HTTP APIs behind this server: all with the operator token, otherwise those whose tools your tenant has.',
  scope: 'metrics:read',
  responses: {
    200: {
      description: 'by name',
      schema: object({ upstreams: listOf(UPSTREAM), next_cursor: { type: 'null' } }),
    },
  },
  refusals: [],
  handle: listUpstreams,
};

/** Returns all upstreams with the operator token, otherwise those whose tools the tenant has. */
export function shownUpstreams(
  { upstreams, tenants }: HttpContext['engine'],
  principal: Principal,
): UpstreamReport[] {
  const all = upstreams.list();
  if (isOfEveryTenant(principal)) return all;
  return all.filter(({ upstream }) => tenants.offers(principal.tenant, packOf(upstream.settings)));
}

function listUpstreams(context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  const principal = principalOf(request);
  const upstreams = shownUpstreams(context.engine, principal)
    .map(upstreamView)
    .map((view) => (isOfEveryTenant(principal) ? view : { ...view, tenants: null }));
  sendJson(reply, 200, JSON.stringify({ upstreams, next_cursor: null }));
}

const reloadRoute: Route = {
  method: 'POST',
  url: '/v1/upstreams/reload',
  name: 'reloadUpstreams',
  api: 'operator',
  summary:
    'Read the configured upstreams again, from the config file and the data folder, and apply what changed. Requires the operator token.',
  scope: 'policy:write',
  responses: {
    200: {
      description: 'the names of the upstreams that changed',
      schema: object({ added: listOf(TEXT), removed: listOf(TEXT), restarted: listOf(TEXT) }),
    },
  },
  refusals: ['permission_denied', 'conflict', ...NOT_STORED],
  handle: reload,
};

async function reload(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const refused = operatorTokenMissing(principalOf(request));
  if (refused !== null) return sendProblem(reply, refused);
  const reloader = context.upstreamReloader;
  if (reloader === undefined)
    return sendProblem(reply, failure('conflict', reason('upstreams_not_reloadable')));
  const done = await reloader.reload();
  if ('code' in done) return sendProblem(reply, done);
  sendJson(reply, 200, JSON.stringify(done));
}

const restartRoute: Route = route({
  method: 'POST',
  url: '/v1/upstreams/:name/restart',
  name: 'restartUpstream',
  api: 'operator',
  summary:
    'End the connection of an upstream and connect again. Calls that run on it end with `provider_disconnected`. Requires the operator token.',
  scope: 'policy:write',
  params: NAME,
  responses: { 200: { description: 'it connects', schema: NAME } },
  refusals: ['permission_denied', 'value_not_found'],
  handle: restart,
});

async function restart(
  context: HttpContext,
  request: RequestWith<{ params: { name: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { name } = request.params;
  const refused =
    operatorTokenMissing(principalOf(request)) ?? (await context.engine.upstreams.restart(name));
  if (refused !== null) return sendProblem(reply, refused);
  sendJson(reply, 200, JSON.stringify({ name }));
}

const acceptRoute: Route = route({
  method: 'POST',
  url: '/v1/upstreams/:name/accept',
  name: 'acceptContracts',
  api: 'operator',
  summary: 'Accept changed contracts of an upstream. Requires the operator token.',
  scope: 'policy:write',
  params: NAME,
  body: object({
    versions: {
      ...mapOf(TEXT),
      minProperties: 1,
      description:
        'the version to accept, by the name of the tool; a tool with another version is a conflict',
    },
  }),
  responses: {
    200: {
      description: 'the tools whose contract was accepted; empty: none had changed',
      schema: object({ accepted: listOf(TEXT) }),
    },
  },
  refusals: ['permission_denied', 'value_not_found', 'tool_not_found', 'conflict', ...NOT_STORED],
  handle: accept,
});

async function accept(
  context: HttpContext,
  request: RequestWith<{ params: { name: string }; body: AcceptContractBody }>,
  reply: FastifyReply,
): Promise<void> {
  const principal = principalOf(request);
  const { name } = request.params;
  const { versions } = request.body;
  const refused = operatorTokenMissing(principal);
  if (refused !== null) return sendProblem(reply, refused);
  const accepted = await context.engine.upstreams.accept(principal, name, versions);
  if (isFailure(accepted)) return sendProblem(reply, accepted);
  sendJson(reply, 200, JSON.stringify({ accepted }));
}

function isFailure(value: readonly string[] | Failure): value is Failure {
  return 'code' in value;
}

export const upstreamRoutes: readonly Route[] = [listRoute, reloadRoute, restartRoute, acceptRoute];
