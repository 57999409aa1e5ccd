import {
  type InputIssueView,
  POLICY_WARNING_CODES,
  type PolicyReviewView,
  reason,
  reasonText,
  rfc3339,
} from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure, type Failure } from '../../core/failures.ts';
import { decidePolicy, mayEverCall } from '../../core/access/policy/decide.ts';
import { decodePolicy, decodeSentPolicy, type PolicyDocument } from '../../core/access/policy/document.ts';
import { reviewPolicy } from '../../core/access/policy/review.ts';
import type { PolicyText } from '../../core/access/policy-service.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import {
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import {
  ANY,
  COUNT,
  FLAG,
  listOf,
  nullable,
  object,
  PEER_ID,
  REASONS,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';

const REVIEW = {
  warnings: {
    ...listOf(
      object({
        code: { enum: POLICY_WARNING_CODES },
        params: { type: 'object', additionalProperties: TEXT },
        message: TEXT,
      }),
    ),
    description: 'lines without effect; warnings never refuse a policy',
  },
  matches: {
    ...listOf(object({ rule: TEXT, pattern: TEXT, count: COUNT, tools: listOf(TEXT) })),
    description: 'what each pattern matches now; `tools` names the first ten',
  },
};

const POLICY = object({
  version: COUNT,
  document: { ...nullable({ type: 'object' }), description: 'null if the stored policy is unreadable' },
  changed_at: nullable(TIME),
  changed_by: TEXT,
  ...REVIEW,
});

const STEP = { rule: TEXT, effect: { enum: ['allow', 'ask', 'deny'] }, reason: TEXT, reasons: REASONS };

const readRoute: Route = {
  method: 'GET',
  url: '/v1/policy',
  name: 'readPolicy',
  api: 'operator',
  summary: 'The policy in force for your tenant.',
  scope: 'policy:write',
  responses: { 200: { description: 'the document and its version', schema: POLICY } },
  refusals: [],
  handle: readPolicy,
};

async function readPolicy(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { tenant } = principalOf(request);
  sendJson(reply, 200, await policyJson(context, tenant, context.services.policies.current(tenant)));
}

const replaceRoute: Route = route({
  method: 'PUT',
  url: '/v1/policy',
  name: 'replacePolicy',
  api: 'operator',
  summary:
    'Replace the policy of your tenant. `version` is the version you read; if another is in force by then, nothing changes (`conflict`).',
  scope: 'policy:write',
  body: object({ document: { type: 'object' }, version: COUNT }, ['version']),
  responses: { 200: { description: 'the policy now in force', schema: POLICY } },
  refusals: ['conflict', 'body_invalid', ...NOT_STORED],
  handle: replacePolicy,
});

async function replacePolicy(
  context: HttpContext,
  request: RequestWith<{ body: { document: unknown; version?: number } }>,
  reply: FastifyReply,
): Promise<void> {
  const { document, version } = request.body;
  const principal = principalOf(request);
  const replaced = await context.services.policies.replace(principal, document, version ?? null);
  if ('code' in replaced) sendProblem(reply, replaced);
  else sendJson(reply, 200, await policyJson(context, principal.tenant, replaced));
}

const checkRoute: Route = route({
  method: 'POST',
  url: '/v1/policy/check',
  name: 'checkPolicy',
  api: 'operator',
  summary:
    'Compare a policy with the tools and keys of your tenant: what each of the first thousand patterns matches, and which lines have no effect. The policy in force does not change.',
  scope: 'policy:write',
  body: object({ document: { type: 'object' } }),
  responses: { 200: { description: 'the comparison', schema: object(REVIEW) } },
  refusals: ['body_invalid'],
  handle: checkPolicy,
});

async function checkPolicy(
  context: HttpContext,
  request: RequestWith<{ body: { document: unknown } }>,
  reply: FastifyReply,
): Promise<void> {
  const { document } = request.body;
  const decoded = decodeSentPolicy(document);
  if (!decoded.ok) {
    sendProblem(reply, unreadable(decoded.problems));
    return;
  }
  const review = await reviewView(context, principalOf(request).tenant, decoded.policy);
  sendJson(reply, 200, JSON.stringify(review));
}

function unreadable(issues: readonly InputIssueView[]): Failure {
  return failure('body_invalid', reason('policy_unreadable'), { issues });
}

async function reviewView(
  context: HttpContext,
  tenant: string,
  policy: PolicyDocument,
): Promise<PolicyReviewView> {
  const { engine, authenticator, turns } = context;
  const tools = [...engine.toolIndex.names(tenant)];
  const surroundings = { tools, agents: authenticator.agentNames(tenant) };
  const { warnings, matches } = await reviewPolicy(policy, surroundings, turns.next);
  return { warnings: warnings.map((one) => ({ ...one, message: reasonText(one) })), matches };
}

const EXPLAIN_BODY = object(
  {
    tool_name: TEXT,
    agent_id: PEER_ID,
    args: ANY,
    document: { type: 'object', description: 'use this policy instead of the one in force' },
  },
  ['agent_id', 'args', 'document'],
);

const explainRoute: Route = route({
  method: 'POST',
  url: '/v1/policy/explain',
  name: 'explainPolicy',
  api: 'operator',
  summary:
    'The decision of the policy for a call, the rule behind it, and other rules that match. Nothing is recorded.',
  scope: 'policy:write',
  body: EXPLAIN_BODY,
  responses: {
    200: {
      description: 'the decision and its trace',
      schema: object({
        ...STEP,
        policy_version: nullable(COUNT),
        listed: FLAG,
        also_matched: listOf(object(STEP)),
      }),
    },
  },
  refusals: ['tool_not_found', 'body_invalid'],
  handle: explain,
});

function explain(
  context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof EXPLAIN_BODY> }>,
  reply: FastifyReply,
): undefined {
  const { engine, services } = context;
  const { tool_name: name, agent_id: agentId = 'local', args = {}, document } = request.body;
  const principal = principalOf(request);
  const { tenant } = principal;
  const tool = engine.toolIndex.find(tenant, name);
  if (tool === undefined) {
    sendProblem(reply, engine.unknownTool(principal, name));
    return;
  }
  const { version, document: inForce } = services.policies.current(tenant);
  const decoded = document === undefined ? decodePolicy(inForce) : decodeSentPolicy(document);
  if (!decoded.ok) {
    sendProblem(reply, unreadable(decoded.problems));
    return;
  }
  const facts = { agentId, toolName: tool.name, annotations: tool.annotations, args };
  const { effect, rule, reason, reasons, alsoMatched } = decidePolicy(decoded.policy, facts);
  const listed = mayEverCall(decoded.policy, agentId, tool.name);
  const policyVersion = document === undefined ? version : null;
  sendJson(
    reply,
    200,
    JSON.stringify({
      effect,
      rule,
      reason,
      reasons,
      policy_version: policyVersion,
      listed,
      also_matched: alsoMatched,
    }),
  );
}

async function policyJson(context: HttpContext, tenant: string, text: PolicyText): Promise<string> {
  const { version, document, changedAt, changedBy } = text;
  const changed = changedAt === null ? null : rfc3339(changedAt);
  const decoded = decodePolicy(document);
  const review = decoded.ok
    ? await reviewView(context, tenant, decoded.policy)
    : { warnings: [], matches: [] };
  return JSON.stringify({ version, document, changed_at: changed, changed_by: changedBy, ...review });
}

export const policyRoutes: readonly Route[] = [readRoute, replaceRoute, checkRoute, explainRoute];
