import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatTools, TOOL_FORMATS, type ToolFormat } from '../../protocols/formats.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import { ANY, enumOf, headers, listOf, object, optional, TEXT } from '../shared/routes/schemas.ts';
import { MCP_FORMAT, toolDetailView } from '../shared/views/tool-lists.ts';

/** Tools in a vendor's format; for OpenAI also the schema parts that its strict mode cannot express. */
const FORMATTED = object({ tools: listOf(ANY), conversions: listOf(ANY) }, ['conversions']);

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/tools',
  name: 'listTools',
  api: 'agent',
  summary: 'The tools this agent may call.',
  scope: 'tools:call',
  query: optional({
    format: {
      ...enumOf(TOOL_FORMATS),
      description: 'the format of a model vendor, of MCP or of a prompt; `vcp` is plain text',
    },
  }),
  headers: headers({ 'if-none-match': { ...TEXT, description: 'the `ETag` of an earlier response' } }),
  responses: {
    200: {
      description: 'every tool, server tools first',
      schema: { anyOf: [object({ tools: listOf(ref('Tool')) }), FORMATTED, object({ text: TEXT })] },
      alternative: { type: 'text/plain', schema: TEXT },
    },
    304: { description: 'nothing has changed since that `ETag`' },
  },
  refusals: [],
  handle: listTools,
});

function listTools(
  context: HttpContext,
  request: RequestWith<{ query: { format?: ToolFormat } }>,
  reply: FastifyReply,
): undefined {
  const { format } = request.query;
  const list = context.toolLists.for(principalOf(request));
  const etag = format === undefined ? list.etag : formattedTag(list.etag, format, request.headers.accept);
  if (format !== undefined) reply.header('vary', withAccept(reply.getHeader('vary')));
  // The list depends on the caller: shared caches must not store it, private ones must revalidate.
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  if (isNamed(request.headers['if-none-match'], etag)) reply.code(304).send();
  else if (format === undefined) sendJson(reply, 200, list.json);
  else sendFormatted(context, request, reply, format);
}

/** Sends `GET /v1/tools?format=…`. A prompt is plain text, unless the client only accepts JSON. */
function sendFormatted(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  format: ToolFormat,
): void {
  const principal = principalOf(request);
  if (format === 'mcp') {
    sendJson(reply, 200, context.toolLists.for(principal, MCP_FORMAT).json);
    return;
  }
  const made = formatTools(format, context.engine.tools(principal));
  if (made.type === 'json') sendJson(reply, 200, made.json);
  else if (wantsJson(request.headers.accept)) sendJson(reply, 200, JSON.stringify({ text: made.text }));
  else reply.code(200).header('content-type', 'text/plain; charset=utf-8').send(made.text);
}

/** Whether a prompt is sent as JSON. */
function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('application/json') && !/text\/|\*\/\*/.test(accept);
}

/** The text and the JSON form of a prompt have different tags. */
function formattedTag(etag: string, format: ToolFormat, accept: string | undefined): string {
  return `${etag.slice(0, -1)}.${format}${wantsJson(accept) ? '.json' : ''}"`;
}

/** CORS may have set `vary: origin` already. */
function withAccept(vary: unknown): string {
  return typeof vary === 'string' ? `${vary}, accept` : 'accept';
}

function isNamed(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}

const getRoute: Route = route({
  method: 'GET',
  url: '/v1/tools/:name',
  name: 'getTool',
  api: 'agent',
  summary: 'One tool with all details, by name or wire name.',
  scope: 'tools:call',
  params: object({ name: TEXT }),
  responses: { 200: { description: 'the contract and the provider', schema: ref('ToolDetail') } },
  refusals: ['tool_not_found', 'permission_denied', 'hook_denied'],
  handle: getTool,
});

async function getTool(
  context: HttpContext,
  request: RequestWith<{ params: { name: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { name } = request.params;
  const { engine } = context;
  const principal = principalOf(request);
  const tool = await engine.findTool(principal, name);
  if (tool === undefined) {
    sendProblem(reply, await engine.noTool(principal, name));
    return;
  }
  sendJson(reply, 200, JSON.stringify(toolDetailView(engine, principal.tenant, tool)));
}

export const toolRoutes: readonly Route[] = [listRoute, getRoute];
