import { rfc3339, type DeviceView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { CountedDevice } from '../../core/device-directory.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { foreignClient, principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageOf, type PageQuery } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { COUNT, listOf, object, optional, PEER_ID, TEXT, TIME } from '../shared/routes/schemas.ts';

const DEVICE = object({
  session: TEXT,
  client_id: { ...TEXT, description: 'the client that owns its tools' },
  name: { ...TEXT, description: '`target` of a call' },
  state: { enum: ['online', 'away'], description: '`away`: its calls wait for it to come back' },
  connected_at: TIME,
  tools: listOf(TEXT),
  open_calls: COUNT,
});

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/devices',
  name: 'listDevices',
  api: 'operator',
  summary: 'The devices that are connected now, to any node, newest first.',
  scope: 'metrics:read',
  query: optional({ ...PAGE_QUERY, client_id: PEER_ID }),
  responses: {
    200: {
      description: 'of the tenant',
      schema: object({ devices: listOf(DEVICE), next_cursor: NEXT_CURSOR }),
    },
  },
  refusals: [],
  handle: listDevices,
});

async function listDevices(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery & { client_id?: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { query } = request;
  const { limit, cursor } = pageOf(query);
  const devices = await context.engine.devices.list({
    tenant: principalOf(request).tenant,
    clientId: query.client_id,
    before: cursor,
    limit,
  });
  const page = devices.slice(0, limit);
  const next = devices.length > limit ? (page.at(-1)?.session ?? null) : null;
  sendJson(reply, 200, JSON.stringify({ devices: page.map(deviceView), next_cursor: next }));
}

function deviceView(device: CountedDevice): DeviceView {
  const { session, clientId, name, isOnline, connectedAt, tools, openCalls } = device;
  return {
    session,
    client_id: clientId,
    name,
    state: isOnline ? 'online' : 'away',
    connected_at: rfc3339(connectedAt),
    tools: [...tools].sort(),
    open_calls: openCalls,
  };
}

const ticketRoute: Route = route({
  method: 'POST',
  url: '/v1/tickets',
  name: 'makeTicket',
  api: 'operator',
  summary:
    'A ticket for one WebSocket (`/ws?ticket=…`), for browsers, which cannot send a header with it. It stands for the credential of this request, once and for a minute.',
  scope: 'tools:serve',
  body: optional({
    client_id: { ...PEER_ID, description: 'the client that provides the tools; default: your own' },
  }),
  responses: {
    201: { description: 'shown once', schema: object({ ticket: TEXT, expires_in_s: COUNT }) },
  },
  refusals: [],
  handle: makeTicket,
});

async function makeTicket(
  context: HttpContext,
  request: RequestWith<{ body: { client_id?: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { client_id: clientId } = request.body ?? {};
  const principal = principalOf(request);
  const foreign = clientId === undefined ? null : foreignClient(principal, clientId);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const holder = clientId === undefined ? principal : { ...principal, clientId };
  const { ticket, expiresInSeconds } = await context.tickets.issue(holder);
  sendJson(reply, 201, JSON.stringify({ ticket, expires_in_s: expiresInSeconds }));
}

export const deviceListRoutes: readonly Route[] = [listRoute, ticketRoute];
