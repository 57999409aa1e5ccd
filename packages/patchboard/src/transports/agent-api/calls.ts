import { WIRE_LIMITS, type InputResponseBody } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { isOpen } from '../../core/call/call.ts';
import { noSuchCall } from '../../core/steps/calls.ts';
import { callJson } from '../shared/views/call-view.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { acceptsInputOf, waitSecondsOf } from '../shared/routes/request-hints.ts';
import {
  idOf,
  type IdRequest,
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  sendJson,
} from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import {
  ANY,
  COUNT,
  headers,
  ID_PARAMS,
  INPUT_ACTION,
  nullable,
  object,
  optional,
  TEXT,
} from '../shared/routes/schemas.ts';
import { waitForEnd } from '../shared/streams/waiting.ts';

const getCallRoute: Route = route({
  method: 'GET',
  url: '/v1/tool_calls/:id',
  name: 'getCall',
  api: 'agent',
  summary:
    'The record of a call. `Prefer: wait=N` waits until the call has ended or needs input; with `input=none`, until it has ended.',
  scope: 'calls:read',
  params: ID_PARAMS,
  headers: headers({ prefer: TEXT }),
  responses: { 200: { description: 'the call as it is', schema: ref('Call') } },
  refusals: ['call_not_found'],
  handle: getCall,
});

async function getCall(context: HttpContext, request: IdRequest, reply: FastifyReply): Promise<void> {
  await sendCall(context, request, reply, waitSecondsOf(request.headers) ?? 0);
}

async function sendCall(
  context: HttpContext,
  request: IdRequest,
  reply: FastifyReply,
  seconds: number,
): Promise<void> {
  const id = idOf(request);
  const principal = principalOf(request);
  const untilEnd = acceptsInputOf(request.headers) === false;
  const call = await waitForEnd(context, reply, { principal, id, seconds, untilEnd });
  if (call === undefined) {
    sendProblem(reply, noSuchCall(id));
    return;
  }
  if (seconds > 0 && !isOpen(call)) reply.header('preference-applied', `wait=${seconds}`);
  sendJson(reply, 200, callJson(call, context.engine.calls.nodeOf(call)));
}

const waitForCallRoute: Route = route({
  ...getCallRoute,
  method: 'POST',
  url: '/v1/tool_calls/:id/wait',
  name: 'waitForCall',
  summary:
    'The record of a call when it has ended, or as it is after `timeout_ms`: `GET` with `Prefer: wait`.',
  params: ID_PARAMS,
  body: optional({
    timeout_ms: {
      ...nullable(COUNT),
      description: '60000 at most, and by default; `Prefer: wait=N` counts too',
    },
  }),
  handle: waitForCall,
});

async function waitForCall(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: { timeout_ms?: number | null } }>,
  reply: FastifyReply,
): Promise<void> {
  const { timeout_ms: inBody } = request.body ?? {};
  const wanted = typeof inBody === 'number' ? inBody / 1000 : waitSecondsOf(request.headers);
  await sendCall(
    context,
    request,
    reply,
    Math.min(wanted ?? WIRE_LIMITS.waitSeconds, WIRE_LIMITS.waitSeconds),
  );
}

const giveInputRoute: Route = route({
  method: 'POST',
  url: '/v1/tool_calls/:id/input',
  name: 'giveInput',
  api: 'agent',
  summary: 'Respond to the input request of a running call. Only the agent that made the call can.',
  scope: 'tools:call',
  params: ID_PARAMS,
  body: object(
    {
      id: { ...TEXT, description: 'of the input request' },
      action: { ...INPUT_ACTION, description: 'default: accept' },
      content: { ...ANY, description: 'fits the schema of the request; absent for a link' },
    },
    ['action', 'content'],
  ),
  responses: { 200: { description: 'the call, which goes on', schema: ref('Call') } },
  refusals: ['call_not_found', 'permission_denied', 'input_invalid', 'conflict', 'too_large', ...NOT_STORED],
  handle: giveInput,
});

async function giveInput(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: InputResponseBody }>,
  reply: FastifyReply,
): Promise<void> {
  const { id, action = 'accept', content } = request.body;
  const given = { id, action, content };
  const result = await context.engine.calls.respond(principalOf(request), idOf(request), given);
  if (result.ok) sendJson(reply, 200, callJson(result.value, context.engine.calls.nodeOf(result.value)));
  else sendProblem(reply, result.failure, result.call === undefined ? {} : { state: result.call.state.name });
}

const cancelCallRoute: Route = route({
  method: 'POST',
  url: '/v1/tool_calls/:id/cancel',
  name: 'cancelCall',
  api: 'agent',
  summary:
    'Stop a call and the work it does. The agent that made it can, and services and operators of its tenant; a client that only runs it cannot.',
  scope: 'tools:call',
  params: ID_PARAMS,
  body: object({}),
  responses: { 200: { description: 'the call, cancelled', schema: ref('Call') } },
  refusals: ['call_not_found', 'permission_denied', 'conflict', ...NOT_STORED],
  handle: cancelCall,
});

async function cancelCall(context: HttpContext, request: IdRequest, reply: FastifyReply): Promise<void> {
  const result = await context.engine.calls.cancel(principalOf(request), idOf(request));
  if (result.ok) {
    sendJson(reply, 200, callJson(result.value, context.engine.calls.nodeOf(result.value)));
    return;
  }
  sendProblem(reply, result.failure, result.call === undefined ? {} : { state: result.call.state.name });
}

export const callRoutes: readonly Route[] = [getCallRoute, waitForCallRoute, giveInputRoute, cancelCallRoute];
