import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import { listOf, object, TEXT } from '../shared/routes/schemas.ts';
import { asyncApi } from './asyncapi.ts';
import { gatewayOf } from './gateway.ts';

const socketRoute: Route = {
  method: 'GET',
  url: '/ws',
  name: 'deviceSocket',
  api: 'device',
  summary:
    'A WebSocket for a device that provides tools; `/asyncapi.json` describes the messages. The credential is a header, or for browsers a ticket from `POST /v1/tickets`.',
  scope: 'tools:serve',
  takesTicket: true,
  query: {
    type: 'object',
    properties: { ticket: { ...TEXT, description: 'single use; never a key' } },
    description: 'other members, such as `session_id`, are ignored',
  },
  responses: { 101: { description: 'the connection is a WebSocket' } },
  refusals: ['overloaded'],
  isStream: true,
  handle: openSocket,
};

function openSocket(context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  gatewayOf(context).admit(request, reply);
}

const toolsRoute: Route = {
  method: 'GET',
  url: '/api/tools',
  name: 'listCallableTools',
  api: 'device',
  summary: 'The tools that the caller may call.',
  scope: 'tools:call',
  responses: { 200: { description: 'as `GET /v1/tools`', schema: object({ tools: listOf(ref('Tool')) }) } },
  refusals: [],
  handle: listTools,
};

function listTools(context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  sendJson(reply, 200, context.toolLists.for(principalOf(request)).json);
}

const asyncApiRoute: Route = {
  method: 'GET',
  url: '/asyncapi.json',
  name: 'asyncapi',
  api: 'device',
  summary: 'The messages of `/ws`.',
  scope: null,
  responses: { 200: { description: 'AsyncAPI 3.0', schema: { type: 'object' } } },
  refusals: [],
  handle: describeMessages,
};

function describeMessages(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): undefined {
  sendJson(reply, 200, asyncApi(context.version));
}

/** The routes of devices, which provide tools while they are connected. */
export const deviceRoutes: readonly Route[] = [socketRoute, toolsRoute, asyncApiRoute];
