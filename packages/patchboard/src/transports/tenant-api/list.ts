import type { FastifyReply } from 'fastify';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { audienceOf } from '../../core/tools/tool-audience.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson, type ValueOf } from '../shared/routes/routes.ts';
import { COUNT, FLAG, listOf, nullable, object, optional, TEXT } from '../shared/routes/schemas.ts';
import { TENANT_CONTEXT_HEADERS } from './tenant-context.ts';
import { TENANT_REFUSAL } from './refusal.ts';
import { siteProblem } from './sites.ts';

const BODY = optional({
  category: nullable({ ...TEXT, description: 'only tools of this category' }),
  ai_callable_only: { ...FLAG, description: 'default: true' },
});

const JSON_SCHEMA = { type: ['object', 'boolean'] };

const TOOL = object({
  name: TEXT,
  version: TEXT,
  description: TEXT,
  category: TEXT,
  input_schema: JSON_SCHEMA,
  output_schema: nullable(JSON_SCHEMA),
  requires_auth: FLAG,
  ai_callable: FLAG,
});

export function listRoute(prefix: string, name: string): Route {
  return route({
    method: 'POST',
    url: `${prefix}/tools/list`,
    name,
    api: 'tenant',
    summary: 'The tools that the tenant has.',
    scope: 'tools:call',
    takesInternalKey: true,
    headers: TENANT_CONTEXT_HEADERS,
    body: BODY,
    responses: {
      200: { description: 'all of them', schema: object({ tools: listOf(TOOL), total: COUNT }) },
    },
    refuse: TENANT_REFUSAL,
    refusals: ['permission_denied'],
    handle: listTools,
  });
}

function listTools(
  context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof BODY> }>,
  reply: FastifyReply,
): undefined {
  const { category = null, ai_callable_only: aiOnly = true } = request.body ?? {};
  const { engine } = context;
  const principal = principalOf(request);
  const foreign = siteProblem(engine.tenants, principal, String(request.headers['x-site-id']));
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const tools = engine
    .visibleTools(principal)
    .map(toolView)
    .filter((tool) => (tool.ai_callable || !aiOnly) && (category === null || tool.category === category));
  sendJson(reply, 200, JSON.stringify({ tools, total: tools.length }));
}

interface TenantToolView {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly category: string;
  readonly input_schema: unknown;
  readonly output_schema: unknown;
  readonly requires_auth: boolean;
  readonly ai_callable: boolean;
}

function toolView(tool: RegisteredTool): TenantToolView {
  const { aiCallable, requiresAuth } = audienceOf(tool);
  const { version, category, tags } = tool.metadata ?? {};
  const [firstTag] = Array.isArray(tags) ? (tags as readonly unknown[]) : [];
  return {
    name: tool.name,
    // Without a version in the metadata: the hash of the contract.
    version: firstText(version, tool.version),
    description: tool.description,
    category: firstText(category, firstTag, tool.pack, tool.source),
    input_schema: tool.inputSchema,
    output_schema: tool.outputSchema,
    requires_auth: requiresAuth,
    ai_callable: aiCallable,
  };
}

function firstText(...candidates: readonly unknown[]): string {
  return candidates.filter((candidate) => typeof candidate === 'string').find((text) => text !== '') ?? '';
}
