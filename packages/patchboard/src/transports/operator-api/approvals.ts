import { PATTERN_CHARACTERS } from '../../core/access/policy/document.ts';
import { rfc3339 } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import type { OperatorDecision } from '../../core/steps/approvals.ts';
import type { Call } from '../../core/call/call.ts';
import type { GrantRequest } from '../../core/access/grant-service.ts';
import {
  COMPARISON_NAMES,
  COMPARISONS,
  type ArgumentCondition,
} from '../../core/access/policy/argument-condition.ts';
import { callJson } from '../shared/views/call-view.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf, type PageQuery } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import {
  idOf,
  type IdRequest,
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  type Schema,
  sendJson,
} from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import {
  ANNOTATIONS,
  ANY,
  COUNT,
  enumOf,
  FLAG,
  ID_PARAMS,
  listOf,
  NUMBER,
  nullable,
  object,
  optional,
  REASONS,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';

const APPROVAL_REQUEST = object(
  {
    tool_call_id: TEXT,
    run_id: TEXT,
    agent_id: TEXT,
    tool_name: TEXT,
    tool_version: TEXT,
    description: TEXT,
    annotations: ANNOTATIONS,
    args: ANY,
    reason: TEXT,
    reasons: REASONS,
    rule: TEXT,
    meta: { ...ANY, description: 'data from the hook that required the approval; null without one' },
    digest: { ...TEXT, description: 'hash of what is shown; the decision must contain it' },
    created_at: TIME,
    expires_at: TIME,
  },
  ['reasons'],
);

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/approvals',
  name: 'listApprovals',
  api: 'operator',
  summary: 'Calls that wait for a decision, newest first, with their arguments.',
  scope: 'approvals:decide',
  query: optional(PAGE_QUERY),
  responses: {
    200: {
      description: 'one page; of large calls it holds fewer than `limit`',
      schema: object({ approvals: listOf(APPROVAL_REQUEST), next_cursor: NEXT_CURSOR }),
    },
  },
  refusals: [],
  handle: listApprovals,
});

async function listApprovals(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery }>,
  reply: FastifyReply,
): Promise<void> {
  const principal = principalOf(request);
  const { limit, cursor } = pageOf(request.query);
  const page = await context.engine.calls.list(principal, { states: ['APPROVAL_REQUIRED'] }, cursor, limit);
  const rows = page.items.map((call) => approvalJson(context, call));
  sendJson(reply, 200, pageJson('approvals', rows, page.nextCursor));
}

function approvalJson({ engine }: HttpContext, call: Call): string {
  const tool = engine.toolIndex.find(call.tenant, call.toolName);
  return JSON.stringify({
    tool_call_id: call.id,
    run_id: call.runId,
    agent_id: call.agentId,
    tool_name: call.toolName,
    tool_version: call.toolVersion,
    description: tool?.description ?? '',
    annotations: tool?.annotations ?? {},
    args: JSON.parse(call.argsJson) as unknown,
    reason: call.approval?.reason ?? '',
    reasons: call.decision.reasons,
    rule: call.decision.rule,
    meta: call.approval?.meta ?? null,
    digest: call.approval?.digest ?? '',
    created_at: rfc3339(call.createdAt),
    expires_at: rfc3339(call.approval?.expiresAt ?? call.createdAt),
  });
}

interface DecisionBody {
  readonly decision: 'allow' | 'deny';
  readonly digest: string;
  readonly note?: string | null;
  readonly args?: unknown;
  readonly grant?: GrantBody;
}

interface GrantBody {
  readonly scope: GrantRequest['scope'];
  readonly when?: readonly ArgumentCondition[];
  readonly this_agent_only?: boolean;
  readonly lifetime_s?: number | null;
}

const COMPARISON_SCHEMAS: Readonly<Record<(typeof COMPARISONS)[keyof typeof COMPARISONS]['takes'], Schema>> =
  {
    'any value': ANY,
    text: TEXT,
    pattern: { ...TEXT, maxLength: PATTERN_CHARACTERS },
    number: NUMBER,
  };

export const PREDICATE: Schema<ArgumentCondition> = {
  type: 'object',
  properties: {
    arg: { type: 'string', pattern: '^(/.*)?$', description: 'JSON pointer into the arguments' },
    ...Object.fromEntries(
      COMPARISON_NAMES.map((name) => [name, COMPARISON_SCHEMAS[COMPARISONS[name].takes]]),
    ),
  },
  additionalProperties: false,
  required: ['arg'],
};

const decisionRoute: Route = route({
  method: 'POST',
  url: '/v1/tool_calls/:id/decision',
  name: 'decideCall',
  api: 'operator',
  summary:
    'Allow or deny a call that waits, once. If `args` are sent, they replace the arguments of the call.',
  scope: 'approvals:decide',
  params: ID_PARAMS,
  body: object(
    {
      decision: enumOf(['allow', 'deny']),
      digest: { ...TEXT, description: 'as `GET /v1/approvals` shows it' },
      note: {
        ...nullable({ ...TEXT, maxLength: 2000 }),
        description: 'shown to the model if denied',
      },
      args: { ...ANY, description: 'replacement arguments; they must fit the schema' },
      grant: object(
        {
          scope: {
            ...enumOf(['exact', 'predicate', 'tool']),
            description: 'which calls need no approval from now on',
          },
          when: { ...listOf(PREDICATE), description: 'for scope `predicate`' },
          this_agent_only: { ...FLAG, default: true },
          lifetime_s: nullable({ ...COUNT, minimum: 1, maximum: 31_536_000 }),
        },
        ['when', 'this_agent_only', 'lifetime_s'],
      ),
    },
    ['note', 'args', 'grant'],
  ),
  responses: { 200: { description: 'the record as it is now', schema: ref('Call') } },
  refusals: [
    'call_not_found',
    'tool_not_found',
    'conflict',
    'input_invalid',
    'permission_denied',
    ...NOT_STORED,
  ],
  handle: decide,
});

async function decide(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: DecisionBody }>,
  reply: FastifyReply,
): Promise<void> {
  const id = idOf(request);
  const result = await context.engine.calls.decide(principalOf(request), id, decisionOf(request.body));
  if (result.ok) sendJson(reply, 200, callJson(result.value, context.engine.calls.nodeOf(result.value)));
  else
    sendProblem(
      reply,
      result.failure,
      result.call === undefined ? {} : { toolCallId: id, state: result.call.state.name },
    );
}

const previewRoute: Route = route({
  method: 'POST',
  url: '/v1/tool_calls/:id/decision/preview',
  name: 'previewDecision',
  api: 'operator',
  summary: 'The digest that a waiting call would have with other `args`. Nothing is recorded.',
  scope: 'approvals:decide',
  params: ID_PARAMS,
  body: object({ args: { ...ANY, description: 'they must fit the schema' } }),
  responses: { 200: { description: 'the digest', schema: object({ digest: TEXT }) } },
  refusals: ['call_not_found', 'tool_not_found', 'conflict', 'input_invalid', 'permission_denied'],
  handle: preview,
});

async function preview(
  context: HttpContext,
  request: IdRequest & RequestWith<{ body: { args: unknown } }>,
  reply: FastifyReply,
): Promise<void> {
  const { args } = request.body;
  const result = await context.engine.calls.previewDecision(principalOf(request), idOf(request), args);
  if (result.ok) sendJson(reply, 200, JSON.stringify({ digest: result.value }));
  else sendProblem(reply, result.failure);
}

function decisionOf({ decision, digest, note, args, grant }: DecisionBody): OperatorDecision {
  return {
    decision,
    digest,
    note: note ?? null,
    ...(args === undefined ? {} : { edit: { args } }),
    ...(grant === undefined ? {} : { grant: grantOf(grant) }),
  };
}

function grantOf({
  scope,
  when,
  this_agent_only: thisAgentOnly,
  lifetime_s: lifetime,
}: GrantBody): GrantRequest {
  const seconds = lifetime ?? null;
  return {
    scope,
    when: when ?? [],
    thisAgentOnly: thisAgentOnly ?? true,
    lifetimeMs: seconds === null ? null : seconds * 1000,
  };
}

export const approvalRoutes: readonly Route[] = [listRoute, decisionRoute, previewRoute];
