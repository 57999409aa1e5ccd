import { reason } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isOpen, type Call } from '../../core/call/call.ts';
import type { LiveCall } from '../../core/call/live-call.ts';
import { failure, type Failure } from '../../core/failures.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import {
  damagedRequests,
  withArgumentProblems,
  inReplyOrder,
  type DamagedRequest,
} from '../../protocols/request-results.ts';
import type { ParsedToolRequest, ToolCallingProtocol } from '../../protocols/protocol.ts';
import { PROTOCOL_IDS, protocolOf } from '../../protocols/protocols.ts';
import { toolFinder } from '../../protocols/registered-tools.ts';
import { parseReplyInSlices } from '../../protocols/reply-reader.ts';
import { requestedCall, requestedName, type FindTool } from '../../protocols/resolve.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { failureOfError } from '../shared/http/request-failure.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { idempotencyKeyOf, traceOf, waitSecondsOf } from '../shared/routes/request-hints.ts';
import { type RequestWith, route, type Route, sendJson, type ValueOf } from '../shared/routes/routes.ts';
import { enumOf, listOf, object, PEER_ID, TEXT } from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { batchJson, type BatchResult } from './batch-response.ts';
import { CALL_HEADERS, invokeRoute } from './invoke.ts';

/** Upper bound on the calls in one reply. */
const MOST_REQUESTS = 100;
/** Characters of requests that are submitted in one turn of the event loop. */
const CHARACTERS_PER_TURN = 65_536;
/** Default without `Prefer: wait`. */
const WAIT_SECONDS = 30;

const BODY = object({
  format: enumOf(PROTOCOL_IDS),
  reply: {
    type: ['string', 'object', 'array'],
    description:
      'the text of the model (`vcp`), or the response of the vendor: the body, or the event stream as text',
  },
  run_id: PEER_ID,
});

export const batchRoute: Route = route({
  method: 'POST',
  url: '/v1/tool_calls/batch',
  name: 'runReply',
  api: 'agent',
  summary:
    "Run the calls in a model's reply, and return their results in the same format. The calls run concurrently; " +
    `the response waits for them as \`Prefer: wait=N\` says, ${WAIT_SECONDS} seconds by default. Each call counts ` +
    "against the caller's rate limit, and so does each 8 KiB of the reply beyond the first. Problems beyond the first hundred are only counted.",
  scope: 'tools:call',
  headers: CALL_HEADERS,
  body: BODY,
  responses: {
    200: {
      description:
        'one result for each request, also for malformed ones; `calls` lists the call of each. A call that has not ' +
        'ended in time continues, and its result says so',
      schema: object({
        results: {
          type: ['string', 'array'],
          description: 'text for the next message (`vcp`), or the items to send',
        },
        calls: listOf({
          ...object({ request_id: TEXT, tool_name: TEXT, tool_call_id: { type: ['string', 'null'] } }),
          additionalProperties: true,
        }),
      }),
    },
  },
  refusals: invokeRoute.refusals,
  handle: runReply,
});

async function runReply(
  context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof BODY> }>,
  reply: FastifyReply,
): Promise<void> {
  const { format, reply: given, run_id: runId } = request.body;
  const principal = principalOf(request);
  const protocol = protocolOf(format);
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  // The calls themselves pay for the first 8 KiB.
  const tooFast = context.engine.chargeReply(principal, Buffer.byteLength(text), 1);
  if (tooFast !== null) {
    sendProblem(reply, tooFast);
    return;
  }
  const { requests, errors } = await parseReplyInSlices(protocol, text, context.turns.next);
  const damaged = damagedRequests(text, errors);
  const [first] = damaged;
  if (first !== undefined && errors[0]?.code === 'reply_invalid' && requests.length === 0) {
    sendProblem(reply, failure('body_invalid', reason('in_reply', { problem: first.failure.reasons ?? [] })));
    return;
  }
  if (requests.length > MOST_REQUESTS) {
    const why = reason('reply_too_many_calls', { count: requests.length, most: MOST_REQUESTS });
    sendProblem(reply, failure('too_large', why));
    return;
  }
  const find = toolFinder(context.engine.namedTools(principal));
  const seconds = waitSecondsOf(request.headers) ?? WAIT_SECONDS;
  const ran = await whileConnected(context, reply, async (signal) => {
    const run: BatchRun = { context, request, principal, protocol, find, runId, seconds, signal };
    return await inTurns(requests, context.turns.next, async (parsed, index) => ({
      offset: parsed.offset,
      ...(await tryOne(run, parsed, index)),
    }));
  });
  const [thrown] = ran.flatMap((tried) => tried.thrown ?? []);
  // Sent again, the reply makes no call twice.
  const mayRepeat =
    idempotencyKeyOf(request.headers) !== null || ran.every(({ result }) => result.call === null);
  if (thrown !== undefined && mayRepeat) {
    sendProblem(reply, thrown);
    return;
  }
  const unread = damaged.map((request) => [request.offset, malformedResult(request)] as const);
  const { calls } = context.engine;
  const batch = inReplyOrder([...unread, ...ran.map(({ offset, result }) => [offset, result] as const)]);
  sendJson(
    reply,
    200,
    batchJson(protocol, batch, (call) => calls.nodeOf(call)),
  );
}

/** Runs all requests concurrently, but starts long ones in separate turns of the event loop: each is validated and recorded in one. */
async function inTurns<Result>(
  requests: readonly ParsedToolRequest[],
  pause: () => Promise<void>,
  run: (parsed: ParsedToolRequest, index: number) => Promise<Result>,
): Promise<Result[]> {
  let turn: Promise<unknown> = Promise.resolve();
  let sinceTurn = 0;
  return await Promise.all(
    requests.map((parsed, index) => {
      sinceTurn += parsed.rawBlock.length;
      if (sinceTurn > CHARACTERS_PER_TURN) {
        turn = turn.then(pause);
        sinceTurn = 0;
      }
      return turn.then(() => run(parsed, index));
    }),
  );
}

interface BatchRun {
  readonly context: HttpContext;
  readonly request: FastifyRequest;
  readonly principal: Principal;
  readonly protocol: ToolCallingProtocol;
  readonly find: FindTool<RegisteredTool>;
  readonly runId: string;
  readonly seconds: number;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
}

interface Tried {
  readonly result: BatchResult;
  /** Why the request could not be recorded, such as a full disk; null: it was, or it was refused. */
  readonly thrown: Failure | null;
}

/** As `runOne`. An error of one request is its result, because the calls of the others may run. */
async function tryOne(run: BatchRun, parsed: ParsedToolRequest, index: number): Promise<Tried> {
  try {
    return { result: await runOne(run, parsed, index), thrown: null };
  } catch (error) {
    const thrown = failureOfError(error, run.request, run.context.log);
    const { requestId, noReply = false } = parsed;
    const result = { requestId, toolName: requestedName(parsed), noReply, call: null, failure: thrown };
    return { result, thrown };
  }
}

/** Runs one request until it ends or the wait is over. Idempotency keys contain `index`, because request ids may repeat. */
async function runOne(run: BatchRun, parsed: ParsedToolRequest, index: number): Promise<BatchResult> {
  const { context, request, principal } = run;
  const { toolName, args, problems } = requestedCall(run.protocol, parsed, run.find);
  const { requestId, noReply = false } = parsed;
  const named = { requestId, toolName, noReply };
  const key = idempotencyKeyOf(request.headers);
  const submitted = await context.engine.submit(
    {
      toolName,
      runId: run.runId,
      args,
      idempotencyKey: key === null ? null : `${key}/${index}`,
      acceptsInput: false,
      ...traceOf(request.headers),
    },
    principal,
  );
  if (submitted.kind === 'refused')
    return { ...named, call: null, failure: withArgumentProblems(submitted.failure, problems) };
  const live = submitted.kind === 'accepted' ? submitted.live : null;
  const call = isOpen(submitted.call) ? await waited(run, submitted.call, live) : submitted.call;
  return { ...named, call, failure: failureOf(call) };
}

/** Returns the call as it was recorded if its end cannot be read: it goes on. */
async function waited(run: BatchRun, call: Call, live: LiveCall | null): Promise<Call> {
  const { context, request, principal, seconds, signal } = run;
  try {
    const options = { signal, live };
    return (await context.engine.calls.wait(principal, call.id, seconds * 1000, options)) ?? call;
  } catch (error) {
    failureOfError(error, request, context.log);
    return call;
  }
}

function failureOf(call: Call): Failure | null {
  if ('error' in call.state) return call.state.error;
  if (!isOpen(call)) return null;
  const why = reason('call_not_ended', { id: call.id, state: call.state.name });
  return failure('conflict', why, {
    recommendations: [`GET /v1/tool_calls/${call.id} has its result later`],
  });
}

function malformedResult({ requestId, toolName, failure: why }: DamagedRequest): BatchResult {
  return { requestId, toolName, noReply: false, call: null, failure: why };
}
