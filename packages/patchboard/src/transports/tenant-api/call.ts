import { ENGLISH, reason, type ReasonSentences, reasonText, textIn } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { endedAt, isOpen, type Call } from '../../core/call/call.ts';
import type { Failure } from '../../core/failures.ts';
import type { Submitted } from '../../core/call/call-request.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { HTTP_STATUS, rateFields, sendProblem } from '../shared/routes/problem.ts';
import {
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import { ANY, object, TEXT } from '../shared/routes/schemas.ts';
import { waitForEnd } from '../shared/streams/waiting.ts';
import { auditOf, CALL_RESPONSE, type AuditedRequest } from './audit.ts';
import { ERROR_TYPE, type ErrorType } from './error-types.ts';
import { BODY_CONTEXT, TENANT_CONTEXT_HEADERS, tenantContextOf } from './tenant-context.ts';
import { TENANT_REFUSAL } from './refusal.ts';
import { siteProblem } from './sites.ts';
import { undeclaredMembers, type Warning } from './undeclared-members.ts';

const BODY = object(
  { tool_name: { ...TEXT, minLength: 1, maxLength: 200 }, input: ANY, context: BODY_CONTEXT },
  ['input', 'context'],
);

export function callRoute(prefix: string, name: string): Route {
  return route({
    method: 'POST',
    url: `${prefix}/tools/call`,
    name,
    api: 'tenant',
    summary: 'Call a tool and wait for its end. The response to a failed call is 200 with `success: false`.',
    scope: 'tools:call',
    takesInternalKey: true,
    headers: TENANT_CONTEXT_HEADERS,
    body: BODY,
    responses: { 200: { description: 'how the call ended', schema: CALL_RESPONSE } },
    refuse: TENANT_REFUSAL,
    refusals: ['permission_denied', 'rate_limited', 'queue_full', 'overloaded', ...NOT_STORED],
    handle: callTool,
  });
}

async function callTool(
  context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof BODY> }>,
  reply: FastifyReply,
): Promise<void> {
  const { engine, clock, digest } = context;
  const { tool_name: toolName, context: bodyContext, ...body } = request.body;
  const input = body.input ?? {};
  const principal = principalOf(request);
  const tenantContext = tenantContextOf(request.headers, bodyContext);
  if ('code' in tenantContext) return sendProblem(reply, tenantContext);
  const { traceId, spanId, origin } = tenantContext;
  const foreign = siteProblem(engine.tenants, principal, origin.siteId);
  if (foreign !== null) return sendProblem(reply, foreign);
  const audited: AuditedRequest = {
    traceId,
    toolName,
    origin,
    inputHash: digest.sha256(JSON.stringify(input)),
  };
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
      acceptsInput: false,
    },
    principal,
  );
  if (submitted.kind === 'refused') {
    const refused = { failure: withTenantSentences(submitted.failure), latencyMs: clock.elapsed() - began };
    return sendRefused(reply, audited, refused);
  }
  const call = await endOf(context, reply, principal, submitted);
  const cachedAgeMs = submitted.kind === 'accepted' ? (submitted.cachedAgeMs ?? null) : null;
  const tool = engine.toolIndex.find(principal.tenant, call.toolName);
  const rate = tool === undefined ? null : engine.rateOf(principal, tool);
  if (rate !== null) reply.headers(rateFields(rate));
  // The warnings would reveal the schema to a caller that may not call the tool.
  const isShown = tool !== undefined && submitted.kind !== 'denied';
  const warnings = isShown ? undeclaredMembers(tool.inputSchema, input) : [];
  sendJson(reply, 200, endedCallJson(context, audited, { call, cachedAgeMs, warnings }));
}

/** Returns the call when it has ended, or its current state if it waits for an operator or the server closes. */
async function endOf(
  context: HttpContext,
  reply: FastifyReply,
  principal: Principal,
  submitted: Exclude<Submitted, { kind: 'refused' }>,
): Promise<Call> {
  const { call } = submitted;
  if (!isOpen(call) || call.state.name === 'APPROVAL_REQUIRED') return call;
  // No timeout needed: every open state has a deadline.
  const live = submitted.kind === 'accepted' ? submitted.live : null;
  return (await waitForEnd(context, reply, { principal, id: call.id, seconds: Infinity, live })) ?? call;
}

interface Refused {
  readonly failure: Failure;
  readonly latencyMs: number;
}

/** Sends 429 and 503 and above as HTTP errors; other refusals as 200 with `success: false`. */
function sendRefused(reply: FastifyReply, audited: AuditedRequest, { failure, latencyMs }: Refused): void {
  const { message, reasons } = failure;
  const error = { type: ERROR_TYPE[failure.code], message };
  const audit = auditOf(audited, { latencyMs: Math.round(latencyMs), toolCallId: null, error });
  const status = HTTP_STATUS[failure.code];
  if (status === 429 || status >= 503) {
    sendProblem(reply, failure, { more: { audit } });
    return;
  }
  const response = { success: false, error: message, reasons, error_type: error.type, audit };
  sendJson(reply, 200, JSON.stringify(response));
}

interface EndedCall {
  readonly call: Call;
  readonly cachedAgeMs: number | null;
  readonly warnings: readonly Warning[];
}

function endedCallJson({ clock }: HttpContext, audited: AuditedRequest, ended: EndedCall): string {
  const { call, cachedAgeMs, warnings } = ended;
  const { state, id: toolCallId } = call;
  const latencyMs = (endedAt(call) ?? clock.now()) - call.createdAt;
  if (state.name === 'COMPLETED') {
    const audit = auditOf(audited, { latencyMs, toolCallId, error: null, warnings });
    const cached = cachedAgeMs === null ? '' : `,"cached":true,"cache_age_ms":${cachedAgeMs}`;
    return `{"success":true,"output":${state.resultJson}${cached},"audit":${JSON.stringify(audit)}}`;
  }
  const error = errorOf(call);
  const audit = auditOf(audited, { latencyMs, toolCallId, error, warnings });
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

/** Sentences of this API: the arguments are called `input`, and the text for unknown tools is what its callers match. */
const TENANT_SENTENCES: ReasonSentences = {
  ...ENGLISH,
  tool_unknown: ({ tool }) => `Unknown tool: ${tool}`,
  tool_unknown_near: ({ tool, meant }) => `Unknown tool: ${tool}; did you mean ${meant}?`,
  input_issue: ({ path, problem }) => `input${path} ${problem}`,
};

function withTenantSentences(failure: Failure): Failure {
  if (failure.reasons === undefined) return failure;
  return { ...failure, message: textIn(TENANT_SENTENCES, '; ', failure.reasons) ?? failure.message };
}
