import { ENGLISH, reason, type ReasonSentences, reasonText, textIn } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { endedAt, isOpen, type Call } from '../../core/call/call.ts';
import type { Failure } from '../../core/failures.ts';
import type { Submitted } from '../../core/call/call-request.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { HTTP_STATUS, rateFields, sendProblem } from '../shared/routes/problem.ts';
import { NOT_STORED, sendJson, type Route } from '../shared/routes/routes.ts';
import { ANY, object } from '../shared/routes/schemas.ts';
import { waitForEnd } from '../shared/streams/waiting.ts';
import { auditOf, CALL_ANSWER, type Asked } from './audit.ts';
import { ERROR_TYPE, type ErrorType } from './error-types.ts';
import { BODY_CONTEXT, TENANT_CONTEXT_HEADERS, tenantContextOf, type BodyContext } from './tenant-context.ts';
import { TENANT_REFUSAL } from './refusal.ts';
import { siteProblem } from './sites.ts';
import { undeclaredMembers, type Warning } from './undeclared-members.ts';

interface CallBody {
  readonly tool_name: string;
  readonly input?: unknown;
  readonly context?: BodyContext | null;
}

export function callRoute(prefix: string, name: string): Route {
  return {
    method: 'POST',
    url: `${prefix}/tools/call`,
    name,
    api: 'tenant',
    summary: 'Call a tool and wait for its end. A call that fails is answered with 200 and `success: false`.',
    scope: 'tools:call',
    takesInternalKey: true,
    headers: TENANT_CONTEXT_HEADERS,
    body: object(
      { tool_name: { type: 'string', minLength: 1, maxLength: 200 }, input: ANY, context: BODY_CONTEXT },
      ['input', 'context'],
    ),
    responses: { 200: { description: 'how the call ended', schema: CALL_ANSWER } },
    refuse: TENANT_REFUSAL,
    refusals: ['permission_denied', 'rate_limited', 'queue_full', 'overloaded', ...NOT_STORED],
    handle: callTool,
  };
}

async function callTool(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { engine, clock, digest } = context;
  const { tool_name: toolName, context: said, ...body } = request.body as CallBody;
  const input = body.input ?? {};
  const principal = principalOf(request);
  const tenantContext = tenantContextOf(request.headers, said);
  if ('code' in tenantContext) return sendProblem(reply, tenantContext);
  const { traceId, spanId, origin } = tenantContext;
  const foreign = siteProblem(engine.tenants, principal, origin.siteId);
  if (foreign !== null) return sendProblem(reply, foreign);
  const asked: Asked = { traceId, toolName, origin, inputHash: digest.sha256(JSON.stringify(input)) };
  const began = clock.elapsed();
  const submitted = await engine.submit(
    {
      toolName,
      // A run belongs to one agent; a trace may pass through several.
      runId: `trace:${traceId}:${principal.agentId}`,
      args: input,
      traceId,
      spanId,
      origin,
    },
    principal,
  );
  if (submitted.kind === 'refused') {
    const refused = { failure: inOwnWords(submitted.failure), latencyMs: clock.elapsed() - began };
    return sendRefused(reply, asked, refused);
  }
  const call = await endOf(context, reply, principal, submitted);
  const cachedAgeMs = submitted.kind === 'accepted' ? (submitted.cachedAgeMs ?? null) : null;
  const rate = engine.rateOf(principal, call.toolName);
  if (rate !== null) reply.headers(rateFields(rate));
  const tool = engine.registry.find(principal.tenant, call.toolName);
  // They would show the schema to one who may not call the tool.
  const isShown = tool !== undefined && submitted.kind !== 'denied';
  const warnings = isShown ? undeclaredMembers(tool.inputSchema, input) : [];
  sendJson(reply, 200, answerJson(context, asked, { call, cachedAgeMs, warnings }));
}

/** The call once it has ended; as it is when it waits for an operator, or when the server closes. */
async function endOf(
  context: HttpContext,
  reply: FastifyReply,
  principal: Principal,
  submitted: Exclude<Submitted, { kind: 'refused' }>,
): Promise<Call> {
  const { call } = submitted;
  if (!isOpen(call) || call.state.name === 'APPROVAL_REQUIRED') return call;
  // Every open state ends by its deadline at the latest: a free slot, or the tool's time limit.
  const live = submitted.kind === 'accepted' ? submitted.live : null;
  return (await waitForEnd(context, reply, { principal, id: call.id, seconds: Infinity, live })) ?? call;
}

interface Refused {
  readonly failure: Failure;
  readonly latencyMs: number;
}

/** What concerns the request and not the call keeps its HTTP status, with the audit in it. */
function sendRefused(reply: FastifyReply, asked: Asked, { failure, latencyMs }: Refused): void {
  const { message, reasons } = failure;
  const error = { type: ERROR_TYPE[failure.code], message };
  const audit = auditOf(asked, { latencyMs: Math.round(latencyMs), toolCallId: null, error });
  const status = HTTP_STATUS[failure.code];
  if (status === 429 || status >= 503) {
    sendProblem(reply, failure, { more: { audit } });
    return;
  }
  const answer = { success: false, error: message, reasons, error_type: error.type, audit };
  sendJson(reply, 200, JSON.stringify(answer));
}

interface EndedCall {
  readonly call: Call;
  readonly cachedAgeMs: number | null;
  readonly warnings: readonly Warning[];
}

function answerJson({ clock }: HttpContext, asked: Asked, ended: EndedCall): string {
  const { call, cachedAgeMs, warnings } = ended;
  const { state, id: toolCallId } = call;
  const latencyMs = (endedAt(call) ?? clock.now()) - call.createdAt;
  if (state.name === 'COMPLETED') {
    const audit = auditOf(asked, { latencyMs, toolCallId, error: null, warnings });
    const cached = cachedAgeMs === null ? '' : `,"cached":true,"cache_age_ms":${cachedAgeMs}`;
    return `{"success":true,"output":${state.resultJson}${cached},"audit":${JSON.stringify(audit)}}`;
  }
  const error = errorOf(call);
  const audit = auditOf(asked, { latencyMs, toolCallId, error, warnings });
  const { message, reasons, type } = error;
  return JSON.stringify({ success: false, error: message, reasons, error_type: type, audit });
}

type TenantError = Pick<Failure, 'message' | 'reasons'> & { readonly type: ErrorType };

function errorOf({ state, id }: Call): TenantError {
  if ('error' in state) return { ...state.error, type: ERROR_TYPE[state.error.code] };
  const [type, why] =
    state.name === 'APPROVAL_REQUIRED'
      ? (['ApprovalRequiredError', reason('approval_needed', { id })] as const)
      : (['InternalError', reason('call_goes_on', { id })] as const);
  return { type, message: reasonText(why), reasons: [why] };
}

/** This API calls the arguments `input`, and an unknown tool as its callers know it. */
const TENANT_SENTENCES: ReasonSentences = {
  ...ENGLISH,
  tool_unknown: ({ tool }) => `Unknown tool: ${tool}`,
  tool_unknown_near: ({ tool, meant }) => `Unknown tool: ${tool}; did you mean ${meant}?`,
  input_issue: ({ path, problem }) => `input${path} ${problem}`,
};

function inOwnWords(failure: Failure): Failure {
  if (failure.reasons === undefined) return failure;
  return { ...failure, message: textIn(TENANT_SENTENCES, '; ', failure.reasons) ?? failure.message };
}
