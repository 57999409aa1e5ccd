import { reason, rfc3339, type RunView } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure } from '../../core/failures.ts';
import { onlyAgent } from '../../core/call/visibility.ts';
import type { Run } from '../../core/ports.ts';
import { callRowJson } from '../shared/views/call-view.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf, type PageQuery } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { NOT_STORED, idOf, sendJson, type Route } from '../shared/routes/routes.ts';
import { foreignAgent } from './call-list.ts';
import {
  ID_PARAMS,
  listOf,
  nullable,
  object,
  optional,
  PEER_ID,
  ref,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';

const createRoute: Route = {
  method: 'POST',
  url: '/v1/runs',
  name: 'createRun',
  api: 'agent',
  summary: 'Bind a run to this agent. Idempotent: the same `run_id` returns the same run.',
  scope: 'tools:call',
  body: optional({ run_id: { ...PEER_ID, description: 'default: a new one' } }),
  responses: { 200: { description: 'the run', schema: ref('Run') } },
  refusals: ['permission_denied', ...NOT_STORED],
  handle: createRun,
};

async function createRun(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { run_id: id = null } = (request.body ?? {}) as { run_id?: string };
  const created = await context.engine.runs.create(principalOf(request), id);
  if (created.ok) sendJson(reply, 200, JSON.stringify(runView(created.value)));
  else sendProblem(reply, created.failure);
}

const listRoute: Route = {
  method: 'GET',
  url: '/v1/runs',
  name: 'listRuns',
  api: 'agent',
  summary: 'Runs, newest first.',
  scope: 'calls:read',
  query: optional({ agent_id: TEXT, ...PAGE_QUERY }),
  responses: {
    200: { description: 'one page', schema: object({ runs: listOf(ref('Run')), next_cursor: NEXT_CURSOR }) },
  },
  refusals: ['permission_denied'],
  handle: listRuns,
};

async function listRuns(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const query = request.query as PageQuery & { agent_id?: string };
  const principal = principalOf(request);
  const foreign = foreignAgent(onlyAgent(principal), query.agent_id);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const { limit, cursor } = pageOf(query);
  const page = await context.engine.runs.list(principal, query.agent_id ?? null, cursor, limit);
  const rows = page.items.map((run) => JSON.stringify(runView(run)));
  sendJson(reply, 200, pageJson('runs', rows, page.nextCursor));
}

const getRoute: Route = {
  method: 'GET',
  url: '/v1/runs/:id',
  name: 'getRun',
  api: 'agent',
  summary: 'A run and its calls, newest first.',
  scope: 'calls:read',
  params: ID_PARAMS,
  query: optional(PAGE_QUERY),
  responses: {
    200: {
      description: 'the run and one page of its calls; of large ones it holds fewer than `limit`',
      schema: object({
        run_id: TEXT,
        agent_id: TEXT,
        created_at: TIME,
        cancelled_at: nullable(TIME),
        tool_calls: listOf(ref('Call')),
        next_cursor: NEXT_CURSOR,
      }),
    },
  },
  refusals: ['run_not_found'],
  handle: getRun,
};

async function getRun(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const id = idOf(request);
  const principal = principalOf(request);
  const run = await context.engine.runs.find(principal, id);
  if (run === undefined) {
    sendProblem(reply, failure('run_not_found', reason('run_unknown', { id })));
    return;
  }
  const { limit, cursor } = pageOf(request.query as PageQuery);
  const page = await context.engine.calls.list(principal, { runId: id }, cursor, limit);
  const head = JSON.stringify(runView(run)).slice(1, -1);
  const rows = page.items.map((call) => callRowJson(call, context.engine.calls.nodeOf(call)));
  const calls = pageJson('tool_calls', rows, page.nextCursor).slice(1);
  sendJson(reply, 200, `{${head},${calls}`);
}

const cancelRoute: Route = {
  method: 'POST',
  url: '/v1/runs/:id/cancel',
  name: 'cancelRun',
  api: 'agent',
  summary: 'End every call of a run; none may join it afterwards.',
  scope: 'tools:call',
  params: ID_PARAMS,
  body: object({}),
  responses: {
    200: {
      description: 'the calls that this ended',
      schema: object({ run_id: TEXT, cancelled: listOf(TEXT) }),
    },
  },
  refusals: ['run_not_found', ...NOT_STORED],
  handle: cancelRun,
};

async function cancelRun(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const id = idOf(request);
  const result = await context.engine.runs.cancel(principalOf(request), id);
  if (result.ok) sendJson(reply, 200, JSON.stringify({ run_id: id, cancelled: result.value.cancelled }));
  else sendProblem(reply, result.failure);
}

function runView(run: Run): RunView {
  return {
    run_id: run.id,
    agent_id: run.agentId,
    created_at: rfc3339(run.createdAt),
    cancelled_at: run.cancelledAt === null ? null : rfc3339(run.cancelledAt),
  };
}

export const runRoutes: readonly Route[] = [createRoute, listRoute, getRoute, cancelRoute];
