import { type DryRunView, reason } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { isOpen } from '../../core/call/call.ts';
import type { LiveCall } from '../../core/call/live-call.ts';
import { failure } from '../../core/failures.ts';
import type { Preview } from '../../core/steps/preview.ts';
import type { CallRequest, Submitted } from '../../core/call/call-request.ts';
import type { Principal } from '../../core/access/principal.ts';
import { callJson, decisionView, inputRequestOf } from '../shared/views/call-view.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendInputRequired, sendReceipt } from '../shared/views/receipt.ts';
import { acceptsInputOf, idempotencyKeyOf, traceOf, waitSecondsOf } from '../shared/routes/request-hints.ts';
import {
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  type Schema,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import {
  ANY,
  COUNT,
  FLAG,
  headers,
  nullable,
  object,
  optional,
  PEER_ID,
  TEXT,
} from '../shared/routes/schemas.ts';
import { waitForEnd } from '../shared/streams/waiting.ts';

/** Headers of requests that create a call. */
export const CALL_HEADERS: Schema = headers({
  'idempotency-key': { ...PEER_ID, description: 'same key and body: the same call, for 24 hours' },
  prefer: {
    ...TEXT,
    description:
      '`wait=N`: wait up to N seconds (60 at most) for the call to end; `input=none`: this caller cannot respond to input requests; `input="form url sampling"`: the kinds it can respond to',
  },
  traceparent: { ...TEXT, description: 'W3C trace context; its trace-id is kept with the call' },
  'x-trace-id': { ...PEER_ID, description: 'kept with the call; wins over `traceparent`' },
});

const BODY = object(
  {
    run_id: PEER_ID,
    args: ANY,
    target: nullable(PEER_ID),
    idempotency_key: { ...nullable(PEER_ID), description: 'as the header `Idempotency-Key`' },
    timeout_ms: {
      ...nullable({ ...COUNT, minimum: 1 }),
      description: "the caller's own time limit; never longer than the tool's",
    },
  },
  ['args', 'target', 'idempotency_key', 'timeout_ms'],
);

export const invokeRoute: Route = route({
  method: 'POST',
  url: '/v1/tools/:name/invoke',
  name: 'invokeTool',
  api: 'agent',
  summary: 'Call a tool. The receipt is durable; `Prefer: wait=N` waits for the result.',
  scope: 'tools:call',
  params: object({ name: TEXT }),
  query: optional({ dry_run: { ...FLAG, description: 'return what would happen; nothing is recorded' } }),
  headers: CALL_HEADERS,
  body: BODY,
  responses: {
    200: {
      description: 'the call has ended (`Prefer: wait`), or what would happen (`dry_run`)',
      schema: { anyOf: [ref('Call'), ref('DryRun')] },
    },
    202: {
      description: 'recorded; poll the result, or respond to `input_request` if it is there',
      schema: ref('Receipt'),
    },
  },
  refusals: [
    'tool_not_found',
    'input_invalid',
    'idempotency_mismatch',
    'permission_denied',
    'hook_denied',
    'conflict',
    'rate_limited',
    'queue_full',
    'overloaded',
    'provider_offline',
    ...NOT_STORED,
  ],
  handle: invoke,
});

async function invoke(
  context: HttpContext,
  request: RequestWith<{
    params: { name: string };
    query: { dry_run?: boolean };
    body: ValueOf<typeof BODY>;
  }>,
  reply: FastifyReply,
): Promise<void> {
  const { name } = request.params;
  const { dry_run: isDryRun } = request.query;
  const { body } = request;
  const principal = principalOf(request);
  const inHeader = idempotencyKeyOf(request.headers);
  const inBody = body.idempotency_key ?? null;
  if (inHeader !== null && inBody !== null && inHeader !== inBody) {
    sendProblem(reply, failure('body_invalid', reason('idempotency_keys_differ')));
    return;
  }
  const wanted: CallRequest = {
    toolName: name,
    runId: body.run_id,
    args: body.args === undefined ? {} : body.args,
    target: body.target ?? null,
    idempotencyKey: inHeader ?? inBody,
    ...(typeof body.timeout_ms === 'number' ? { timeoutMs: body.timeout_ms } : {}),
    acceptsInput: acceptsInputOf(request.headers),
    ...traceOf(request.headers),
  };
  if (isDryRun === true) {
    const preview = await context.engine.previews.of(wanted, principal);
    if (preview.ok) sendJson(reply, 200, JSON.stringify(dryRunView(preview.value)));
    else sendProblem(reply, preview.failure);
    return;
  }
  const submitted = await context.engine.submit(wanted, principal);
  return sendSubmitted(
    context,
    { reply, principal, waitSeconds: waitSecondsOf(request.headers) ?? 0 },
    submitted,
  );
}

function dryRunView({ valid, errors, decision, route }: Preview): DryRunView {
  const { source, clientId, online } = route;
  return { valid, errors, decision: decisionView(decision), route: { source, client_id: clientId, online } };
}

interface Exchange {
  readonly reply: FastifyReply;
  readonly principal: Principal;
  readonly waitSeconds: number;
}

/** Sends the receipt, or the record if the caller waits and the call ends in time. */
export function sendSubmitted(
  context: HttpContext,
  exchange: Exchange,
  submitted: Submitted,
): Promise<void> | void {
  const { reply, waitSeconds } = exchange;
  switch (submitted.kind) {
    case 'accepted': {
      const { call, live } = submitted;
      const { id } = call;
      if (waitSeconds > 0) return sendWhenEnded(context, exchange, id, live);
      sendReceipt(reply, id);
      return;
    }
    case 'denied':
      sendProblem(reply, submitted.failure, { toolCallId: submitted.call.id, state: 'DENIED' });
      return;
    case 'refused':
      sendProblem(reply, submitted.failure);
  }
}

async function sendWhenEnded(
  context: HttpContext,
  { reply, principal, waitSeconds }: Exchange,
  id: string,
  live: LiveCall | null,
): Promise<void> {
  const call = await waitForEnd(context, reply, { principal, id, seconds: waitSeconds, live });
  const inputRequest = call === undefined ? null : inputRequestOf(call);
  if (inputRequest !== null) sendInputRequired(reply, id, inputRequest);
  else if (call === undefined || isOpen(call)) sendReceipt(reply, id);
  else
    sendJson(
      reply.header('preference-applied', `wait=${waitSeconds}`),
      200,
      callJson(call, context.engine.calls.nodeOf(call)),
    );
}
