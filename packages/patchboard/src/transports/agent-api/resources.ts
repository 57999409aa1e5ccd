import { reason, WIRE_LIMITS } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { failure } from '../../core/failures.ts';
import { isResourceUri } from '../../core/resources/resource-rules.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf, type PageQuery } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { COUNT, listOf, object, optional, TEXT, TIME } from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { contentsView, resourceView, templateView } from '../shared/views/resource-views.ts';

const READABLE = {
  name: TEXT,
  title: TEXT,
  description: TEXT,
  mime_type: TEXT,
  annotations: optional({
    audience: listOf({ enum: ['user', 'assistant'] }),
    priority: { type: 'number', minimum: 0, maximum: 1 },
    last_modified: TIME,
  }),
};
const OPTIONAL = ['title', 'description', 'mime_type', 'annotations'];

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/resources',
  name: 'listResources',
  api: 'agent',
  summary: 'Resources, by URI.',
  scope: 'calls:read',
  query: optional(PAGE_QUERY),
  responses: {
    200: {
      description: 'one page of the resources that the credential may read',
      schema: object({
        resources: listOf(object({ uri: TEXT, size: COUNT, ...READABLE }, ['size', ...OPTIONAL])),
        next_cursor: NEXT_CURSOR,
      }),
    },
  },
  refusals: [],
  handle: listResources,
});

function listResources(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery }>,
  reply: FastifyReply,
): undefined {
  const { cursor, limit } = pageOf(request.query);
  const { items, nextCursor } = context.engine.resources.list(principalOf(request), cursor, limit);
  const rows = items.map((resource) => JSON.stringify(resourceView(resource)));
  sendJson(reply, 200, pageJson('resources', rows, nextCursor));
}

const templatesRoute: Route = route({
  ...listRoute,
  url: '/v1/resources/templates',
  name: 'listResourceTemplates',
  summary: 'Resource templates: URIs with variables (RFC 6570, level 1).',
  query: optional(PAGE_QUERY),
  responses: {
    200: {
      description: 'one page of the templates that the credential may read',
      schema: object({
        resource_templates: listOf(object({ uri_template: TEXT, ...READABLE }, OPTIONAL)),
        next_cursor: NEXT_CURSOR,
      }),
    },
  },
  handle: listTemplates,
});

function listTemplates(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery }>,
  reply: FastifyReply,
): undefined {
  const { cursor, limit } = pageOf(request.query);
  const { items, nextCursor } = context.engine.resources.templates(principalOf(request), cursor, limit);
  const rows = items.map((template) => JSON.stringify(templateView(template)));
  sendJson(reply, 200, pageJson('resource_templates', rows, nextCursor));
}

const readRoute: Route = route({
  method: 'GET',
  url: '/v1/resources/read',
  name: 'readResource',
  api: 'agent',
  summary: 'The contents of a resource. A read is no call, and is not recorded.',
  scope: 'calls:read',
  query: object({ uri: { ...TEXT, description: 'URI of a resource, or one that a template describes' } }),
  responses: {
    200: {
      description: 'text, or bytes in base64',
      schema: object({
        contents: listOf(
          object({ uri: TEXT, mime_type: TEXT, text: TEXT, blob: TEXT }, ['mime_type', 'text', 'blob']),
        ),
      }),
    },
  },
  refusals: [
    'resource_not_found',
    'resource_failed',
    'result_too_large',
    'timeout',
    'rate_limited',
    'overloaded',
  ],
  handle: readResource,
});

async function readResource(
  context: HttpContext,
  request: RequestWith<{ query: { uri: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { uri } = request.query;
  if (!isResourceUri(uri)) {
    const why = reason('resource_uri_invalid', { characters: WIRE_LIMITS.uriCharacters });
    sendProblem(reply, failure('body_invalid', why));
    return;
  }
  const { resources } = context.engine;
  const read = await whileConnected(context, reply, (signal) =>
    resources.read(principalOf(request), uri, signal),
  );
  if (read.ok) sendJson(reply, 200, JSON.stringify(contentsView(read.value)));
  else sendProblem(reply, read.failure);
}

export const resourceRoutes: readonly Route[] = [listRoute, templatesRoute, readRoute];
