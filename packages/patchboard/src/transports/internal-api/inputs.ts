import { rfc3339, type ClientInputRequest, type ClientInputView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { Call } from '../../core/call/call.ts';
import { responseOf, type InputRound } from '../../core/call/input.ts';
import type { ClientInput, ClientInputResult } from '../../core/devices/client-inputs.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { waitSecondsOf } from '../shared/routes/request-hints.ts';
import {
  idOf,
  type IdRequest,
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  sendJson,
} from '../shared/routes/routes.ts';
import {
  ANY,
  headers,
  ID_PARAMS,
  INPUT_ACTION,
  INPUT_KEY,
  JSON_SCHEMA,
  object,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { PROGRAM_ID, TOKEN } from './results.ts';

const ASKED = object(
  {
    tool_call_id: TEXT,
    input_request_id: TEXT,
    expires_at: { ...TIME, description: 'of the request; while there is no response' },
    action: INPUT_ACTION,
    content: { ...ANY, description: 'absent for a link and for a declined request' },
    deadline_at: { ...TIME, description: 'of the call: the clock of the tool stood still' },
  },
  ['expires_at', 'action', 'content', 'deadline_at'],
);

type InputRequest = IdRequest & RequestWith<{ body: ClientInputRequest }>;

export const inputRequestRoute: Route = route({
  method: 'POST',
  url: '/internal/tool_calls/:id/input_request',
  name: 'requestInput',
  api: 'internal',
  summary:
    'Ask the caller of a running call for input; the attempt goes on. Idempotent: the same request again returns the response, and `Prefer: wait=N` waits for it.',
  scope: 'tools:serve',
  params: ID_PARAMS,
  headers: headers({ prefer: TEXT }),
  body: object(
    {
      key: INPUT_KEY,
      message: { ...TEXT, description: 'the question, for the user of the caller' },
      schema: { ...JSON_SCHEMA, description: 'of the content; default: any object' },
      url: { ...TEXT, description: 'a link to visit, in place of a schema' },
      attempt_token: TOKEN,
      program_id: PROGRAM_ID,
    },
    ['schema', 'url', 'program_id'],
  ),
  responses: {
    200: { description: 'the caller has responded', schema: ASKED },
    202: { description: 'the request is recorded, and the caller has not responded yet', schema: ASKED },
  },
  refusals: ['call_not_found', 'permission_denied', 'conflict', 'input_unavailable', ...NOT_STORED],
  handle: requestInput,
});

async function requestInput(context: HttpContext, request: InputRequest, reply: FastifyReply): Promise<void> {
  const result = await ask(context, request, reply, waitSecondsOf(request.headers) ?? 0);
  if (result.ok) {
    const { call, round } = result;
    sendJson(reply, round.response === null ? 202 : 200, JSON.stringify(viewOf(call, round)));
  } else {
    sendProblem(reply, result.failure, result.call === null ? {} : { state: result.call.state.name });
  }
}

async function ask(
  context: HttpContext,
  request: InputRequest,
  reply: FastifyReply,
  seconds: number,
): Promise<ClientInputResult> {
  const { clientInputs } = context.engine;
  const given = inputOf(request.body);
  const [principal, id] = [principalOf(request), idOf(request)];
  if (seconds === 0) return await clientInputs.request(principal, id, given);
  context.bodies.release(request);
  return await whileConnected(
    context,
    reply,
    async (signal) => await clientInputs.requestAndWait(principal, id, given, seconds * 1000, { signal }),
  );
}

function inputOf({
  key,
  message,
  schema,
  url,
  attempt_token: attemptToken,
  program_id: program,
}: ClientInputRequest): ClientInput {
  const more = { ...(schema === undefined ? {} : { schema }), ...(url === undefined ? {} : { url }) };
  return { key, attemptToken, ...(program === undefined ? {} : { program }), request: { message, ...more } };
}

function viewOf(
  { id }: Call,
  { id: inputId, schema, response, expiresAt, remainingMs }: InputRound,
): ClientInputView {
  const asked = { tool_call_id: id, input_request_id: inputId };
  if (response === null) return { ...asked, expires_at: rfc3339(expiresAt) };
  const { action, content } = responseOf(response);
  return {
    ...asked,
    action,
    ...(action === 'accept' && schema !== null ? { content } : {}),
    deadline_at: rfc3339(response.at + remainingMs),
  };
}
