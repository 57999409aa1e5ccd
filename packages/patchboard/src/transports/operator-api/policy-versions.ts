import { reason, rfc3339 } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { PolicyText } from '../../core/access/policy-service.ts';
import { failure } from '../../core/failures.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import {
  NEXT_CURSOR,
  PAGE_QUERY,
  pageJson,
  pageOf,
  sequenceOf,
  type PageQuery,
} from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { COUNT, listOf, nullable, object, optional, SEQUENCE, TEXT, TIME } from '../shared/routes/schemas.ts';

const CHANGE = {
  version: COUNT,
  changed_at: { ...nullable(TIME), description: 'null: the policy of the config file' },
  changed_by: TEXT,
};

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/policy/versions',
  name: 'listPolicyVersions',
  api: 'operator',
  summary: 'The versions of the policy of your tenant, newest first, without their documents.',
  scope: 'policy:write',
  query: optional(PAGE_QUERY),
  responses: {
    200: {
      description: 'one page',
      schema: object({ versions: listOf(object(CHANGE)), next_cursor: NEXT_CURSOR }),
    },
  },
  refusals: ['body_invalid'],
  handle: listVersions,
});

async function listVersions(
  { services }: HttpContext,
  request: RequestWith<{ query: PageQuery }>,
  reply: FastifyReply,
): Promise<void> {
  const { tenant } = principalOf(request);
  const { limit, cursor } = pageOf(request.query);
  const newest = cursor === null ? Infinity : sequenceOf(cursor);
  // One more than the page has, to know whether there is another page.
  const found = await services.policies.versions(tenant, newest, limit + 1);
  const next = found[limit]?.version ?? null;
  const rows = found.slice(0, limit).map((text) => JSON.stringify(changeView(text)));
  sendJson(reply, 200, pageJson('versions', rows, next === null ? null : String(next)));
}

const readRoute: Route = route({
  method: 'GET',
  url: '/v1/policy/versions/:version',
  name: 'readPolicyVersion',
  api: 'operator',
  summary: 'One version of the policy of your tenant. Version 0 is the policy of the config file.',
  scope: 'policy:write',
  params: object({ version: SEQUENCE }),
  responses: {
    200: {
      description: 'the version with its document',
      schema: object({
        ...CHANGE,
        document: { ...nullable({ type: 'object' }), description: 'null if it is unreadable' },
      }),
    },
  },
  refusals: ['value_not_found', 'body_invalid'],
  handle: readVersion,
});

async function readVersion(
  { services }: HttpContext,
  request: RequestWith<{ params: { version: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { tenant } = principalOf(request);
  const version = Number(request.params.version);
  const text = await services.policies.version(tenant, version);
  if (text !== undefined) {
    sendJson(reply, 200, JSON.stringify({ ...changeView(text), document: text.document }));
    return;
  }
  const current = services.policies.current(tenant).version;
  sendProblem(reply, failure('value_not_found', reason('policy_version_unknown', { version, current })));
}

function changeView({ version, changedAt, changedBy }: PolicyText): Record<string, unknown> {
  return { version, changed_at: changedAt === null ? null : rfc3339(changedAt), changed_by: changedBy };
}

export const policyVersionRoutes: readonly Route[] = [listRoute, readRoute];
