import { INPUT_FAILURE_CODES, statusOf, type AckRequest, type SubmitResponse } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { ReportResult, ClientResult } from '../../core/devices/client-results.ts';
import { problemOf } from '../../core/failures.ts';
import { peekTexts } from '../../core/json/json-peek.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem, type ProblemContext, type RequestRefused } from '../shared/routes/problem.ts';
import {
  idOf,
  type IdRequest,
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  type Schema,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import { ANY, enumOf, ID_PARAMS, listOf, object, optional, PEER_ID, TEXT } from '../shared/routes/schemas.ts';

export const TOKEN: Schema<string> = {
  ...TEXT,
  description: 'from the request; a fencing token against results of earlier attempts',
};

export const PROGRAM_ID: Schema<string> = {
  ...PEER_ID,
  description:
    'names the program, so that it may repeat the request; any text that no other program of the client sends',
};

const ackRoute: Route = route({
  method: 'POST',
  url: '/internal/tool_calls/:id/ack',
  name: 'acknowledgeCall',
  api: 'internal',
  summary:
    'The client has started: the call is RUNNING and is not sent again. Idempotent; of two programs that got the same request the second is refused.',
  scope: 'tools:serve',
  params: ID_PARAMS,
  body: optional({
    attempt_token: TOKEN,
    program_id: PROGRAM_ID,
  }),
  responses: { 200: { description: 'begun', schema: ref('Submitted') } },
  refusals: ['call_not_found', 'permission_denied', 'conflict', ...NOT_STORED],
  handle: acknowledge,
});

async function acknowledge(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: AckRequest }>,
  reply: FastifyReply,
): Promise<void> {
  const { attempt_token: token = null, program_id: program = null } = request.body ?? {};
  const { clients } = context.engine;
  const result = await clients.acknowledge(principalOf(request), idOf(request), token, program);
  sendResult(reply, result, true);
}

const progressRoute: Route = route({
  method: 'POST',
  url: '/internal/tool_calls/:id/progress',
  name: 'reportProgress',
  api: 'internal',
  summary: 'Report progress to event streams. It is not stored.',
  scope: 'tools:serve',
  params: ID_PARAMS,
  body: object({ data: ANY, attempt_token: TOKEN }, ['attempt_token']),
  responses: { 200: { description: 'passed on', schema: ref('Submitted') } },
  refusals: ['call_not_found', 'permission_denied', 'conflict'],
  handle: progress,
});

async function progress(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: { data: unknown; attempt_token?: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { data, attempt_token: token = null } = request.body;
  const result = await context.engine.clients.progress(principalOf(request), idOf(request), token, data);
  sendResult(reply, result, true);
}

/** An error as clients send it: text, or an object with further members. */
interface SentError {
  readonly message?: string;
  readonly recommendations?: readonly string[];
  readonly code?: unknown;
}

const SENT_ERROR: Schema<string | SentError | null> = {
  anyOf: [
    TEXT,
    { type: 'null' },
    {
      type: 'object',
      properties: { message: TEXT, recommendations: listOf(TEXT), code: ANY },
    },
  ],
  description:
    'text, or an object with `message`; its `code` counts if it is `input_unavailable` or `input_declined`',
};

const SUBMIT_BODY = object(
  { status: enumOf(['SUCCEEDED', 'FAILED']), result: ANY, error: SENT_ERROR, attempt_token: TOKEN },
  ['result', 'error', 'attempt_token'],
);

type SubmitBody = ValueOf<typeof SUBMIT_BODY>;

const submitRoute: Route = route({
  method: 'POST',
  url: '/internal/tool_calls/:id/submit',
  name: 'submitResult',
  api: 'internal',
  summary:
    'Submit the result of a call. Accepted once: the same result again gets the same response, another a conflict.',
  scope: 'tools:serve',
  params: ID_PARAMS,
  body: SUBMIT_BODY,
  responses: {
    200: {
      description:
        '`ok` is false when the result was not kept as sent, such as one that breaks the output schema',
      schema: ref('Submitted'),
    },
  },
  refusals: ['call_not_found', 'permission_denied', 'conflict', ...NOT_STORED],
  onBadBody: rejectResult,
  handle: submit,
});

async function submit(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: SubmitBody }>,
  reply: FastifyReply,
): Promise<void> {
  const { body } = request;
  const result = await context.engine.clients.submit(principalOf(request), idOf(request), resultOf(body));
  sendResult(reply, result, result.ok && statusOf(result.call.state.name) === body.status);
}

function resultOf({ status, result, error, attempt_token: token }: SubmitBody): ClientResult {
  return { status, result: result ?? null, error: errorOf(error), attemptToken: token ?? null };
}

function errorOf(error: SubmitBody['error']): ClientResult['error'] {
  if (error === undefined || error === null) return null;
  if (typeof error === 'string') return { message: error };
  const { message, recommendations, code } = error;
  const known = INPUT_FAILURE_CODES.find((one) => one === code);
  return {
    ...(message === undefined ? {} : { message }),
    ...(recommendations === undefined ? {} : { recommendations }),
    ...(known === undefined ? {} : { code: known }),
  };
}

function sendResult(reply: FastifyReply, result: ReportResult, isKept: boolean): void {
  if (!result.ok) {
    sendProblem(reply, result.failure, result.call === null ? {} : { state: result.call.state.name });
    return;
  }
  const { id, state } = result.call;
  const submitted: SubmitResponse = {
    ok: isKept,
    tool_call_id: id,
    status: statusOf(state.name),
    ...(isKept || !('error' in state)
      ? {}
      : { error: { code: state.error.code, message: state.error.message } }),
  };
  sendJson(reply, 200, JSON.stringify(submitted));
}

/** Ends the call of a malformed body, if the body contains the token of the current attempt. */
async function rejectResult(
  { engine }: HttpContext,
  request: IdRequest,
  { failure, text }: RequestRefused,
): Promise<ProblemContext> {
  const sent = text ?? JSON.stringify(request.body) ?? '';
  const { attempt_token: attemptToken } = peekTexts(sent, ['attempt_token']);
  if (attemptToken === undefined) return {};
  const unreadable = { attemptToken, why: problemOf(failure), text: sent };
  const { call } = await engine.clients.reject(principalOf(request), idOf(request), unreadable);
  return call === null ? {} : { toolCallId: call.id, state: call.state.name };
}

export const resultRoutes: readonly Route[] = [ackRoute, progressRoute, submitRoute];
