import { noSuchCall } from '../../core/steps/calls.ts';
import type { FastifyReply } from 'fastify';
import type { HttpContext } from '../shared/http/context.ts';
import {
  EVENT_TEXT,
  EVENTS_HEADERS,
  EVENTS_QUERY,
  type EventsQuery,
  resumePoint,
  streamCall,
  streamEvents,
} from '../shared/streams/event-stream.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { idOf, type IdRequest, type RequestWith, route, type Route } from '../shared/routes/routes.ts';
import { ID_PARAMS } from '../shared/routes/schemas.ts';

const callEventsRoute: Route = route({
  method: 'GET',
  url: '/v1/tool_calls/:id/events',
  name: 'callEvents',
  api: 'agent',
  summary:
    'The events of one call from its beginning, progress included; ends with the call. ' +
    'The first line is `id:` alone: the position of the stream.',
  scope: 'calls:read',
  params: ID_PARAMS,
  query: EVENTS_QUERY,
  headers: EVENTS_HEADERS,
  responses: { 200: { description: 'server-sent events', schema: EVENT_TEXT, type: 'text/event-stream' } },
  refusals: ['call_not_found', 'rate_limited', 'overloaded'],
  isStream: true,
  handle: callEvents,
});

async function callEvents(
  context: HttpContext,
  request: IdRequest & RequestWith<{ query: EventsQuery }>,
  reply: FastifyReply,
): Promise<void> {
  const id = idOf(request);
  const principal = principalOf(request);
  const call = await context.engine.calls.find(principal, id);
  if (call === undefined) sendProblem(reply, noSuchCall(id));
  else streamCall(context, reply, { principal, call, after: (await resumePoint(context, request)) ?? 0 });
}

const allEventsRoute: Route = route({
  ...callEventsRoute,
  url: '/v1/events',
  name: 'allEvents',
  summary:
    'Every event this principal may see, from now on or after a given event. The first line is `id:` alone: ' +
    'the position of the stream, which is lower than requested if the ledger does not reach that far.',
  query: EVENTS_QUERY,
  refusals: ['rate_limited', 'overloaded'],
  handle: allEvents,
});

async function allEvents(
  context: HttpContext,
  request: RequestWith<{ query: EventsQuery }>,
  reply: FastifyReply,
): Promise<void> {
  const filter = { principal: principalOf(request), callId: null };
  const after = (await resumePoint(context, request)) ?? (await context.store.ledgerHead()).seq;
  streamEvents(context, reply, { filter, after, end: 'never' });
}

const { params: _none, ...withoutParams } = allEventsRoute;

export const eventRoutes: readonly Route[] = [callEventsRoute, withoutParams];
