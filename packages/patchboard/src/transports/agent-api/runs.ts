import { reason, rfc3339, RUN_OUTCOMES, type RunCallsView, type RunView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { failure } from '../../core/failures.ts';
import { onlyAgent } from '../../core/call/visibility.ts';
import type { Run } from '../../core/ports.ts';
import { runOutcome, type RunCalls } from '../../core/search/run-calls.ts';
import { SCANNED_RUNS } from '../../core/search/runs-by-outcome.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { COMPLETE, momentOf, SINCE, SORT_QUERY, sortOf, UNTIL } from '../shared/routes/query-parameters.ts';
import {
  idOf,
  type IdRequest,
  NOT_STORED,
  type RequestWith,
  route,
  type Route,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import { ref, RUN } from '../shared/routes/components.ts';
import { enumOf, ID_PARAMS, listOf, object, optional, PEER_ID, TEXT } from '../shared/routes/schemas.ts';
import { callPageJson, foreignAgent, startOf } from './call-list.ts';

const createRoute: Route = route({
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
});

async function createRun(
  context: HttpContext,
  request: RequestWith<{ body: { run_id?: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { run_id: id = null } = request.body ?? {};
  const created = await context.engine.runs.create(principalOf(request), id);
  if (created.ok) sendJson(reply, 200, JSON.stringify(runView(created.value)));
  else sendProblem(reply, created.failure);
}

const RUNS_QUERY = optional({
  agent_id: TEXT,
  outcome: { ...enumOf(RUN_OUTCOMES), description: 'only runs whose calls have this outcome now' },
  since: SINCE,
  until: UNTIL,
  ...PAGE_QUERY,
});

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/runs',
  name: 'listRuns',
  api: 'agent',
  summary: 'Runs with counts of their calls, newest first.',
  scope: 'calls:read',
  query: RUNS_QUERY,
  responses: {
    200: {
      description: `one page. With \`outcome\` it may have fewer than \`limit\` runs, or none, although there are more: a request looks at ${SCANNED_RUNS} runs at most, and \`next_cursor\` continues after them`,
      schema: object({ runs: listOf(ref('Run')), next_cursor: NEXT_CURSOR, complete: COMPLETE }),
    },
  },
  refusals: ['permission_denied', 'storage_unavailable'],
  handle: listRuns,
});

async function listRuns(
  context: HttpContext,
  request: RequestWith<{ query: ValueOf<typeof RUNS_QUERY> }>,
  reply: FastifyReply,
): Promise<void> {
  const { query } = request;
  const principal = principalOf(request);
  const { agent_id: agentId } = query;
  const foreign = foreignAgent(onlyAgent(principal), agentId);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const { engine, clock } = context;
  const now = Math.floor(clock.now());
  const since = momentOf(query.since, now, 'since');
  const until = momentOf(query.until, now, 'until');
  const filter = {
    ...(agentId === undefined ? {} : { agentId }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
  const { limit, cursor } = pageOf(query);
  const wanted = { filter, outcome: query.outcome ?? null, cursor, limit };
  const { items, nextCursor, isComplete } = await engine.searches.runs(principal, wanted);
  const rows = items.map(({ run, calls }) => JSON.stringify(runView(run, calls)));
  sendJson(reply, 200, pageJson('runs', rows, nextCursor, isComplete));
}

const RUN_QUERY = optional({ ...SORT_QUERY, ...PAGE_QUERY });

const getRoute: Route = route({
  method: 'GET',
  url: '/v1/runs/:id',
  name: 'getRun',
  api: 'agent',
  summary: 'A run with counts of its calls, and its calls, newest first or sorted.',
  scope: 'calls:read',
  params: ID_PARAMS,
  query: RUN_QUERY,
  responses: {
    200: {
      description: 'the run and one page of its calls; of large ones it holds fewer than `limit`',
      schema: object(
        { ...RUN, tool_calls: listOf(ref('Call')), next_cursor: NEXT_CURSOR, complete: COMPLETE },
        ['outcome', 'calls'],
      ),
    },
  },
  refusals: ['run_not_found'],
  handle: getRun,
});

async function getRun(
  context: HttpContext,
  request: IdRequest & RequestWith<{ query: ValueOf<typeof RUN_QUERY> }>,
  reply: FastifyReply,
): Promise<void> {
  const id = idOf(request);
  const principal = principalOf(request);
  const { query } = request;
  const { limit, cursor } = pageOf(query);
  const startedAt = startOf(context, cursor);
  const run = await context.engine.runs.find(principal, id);
  if (run === undefined) {
    sendProblem(reply, failure('run_not_found', reason('run_unknown', { id })));
    return;
  }
  const { searches } = context.engine;
  const wanted = { filter: { runId: run.id }, query: {}, sort: sortOf(query), cursor, limit, startedAt };
  const page = await searches.calls(principal, wanted);
  const { calls, isComplete } = await searches.countRuns(principal, [run]);
  const head = JSON.stringify(runView(run, calls[0])).slice(1, -1);
  const rows = callPageJson(context, { ...page, isComplete: page.isComplete && isComplete }).slice(1);
  sendJson(reply, 200, `{${head},${rows}`);
}

const cancelRoute: Route = route({
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
});

async function cancelRun(context: HttpContext, request: IdRequest, reply: FastifyReply): Promise<void> {
  const id = idOf(request);
  const result = await context.engine.runs.cancel(principalOf(request), id);
  if (result.ok) sendJson(reply, 200, JSON.stringify({ run_id: id, cancelled: result.value.cancelled }));
  else sendProblem(reply, result.failure);
}

function runView(run: Run, calls: RunCalls | null = null): RunView {
  return {
    run_id: run.id,
    agent_id: run.agentId,
    created_at: rfc3339(run.createdAt),
    cancelled_at: run.cancelledAt === null ? null : rfc3339(run.cancelledAt),
    ...(calls === null ? {} : { outcome: runOutcome(run, calls), calls: runCallsView(calls) }),
  };
}

function runCallsView({ total, open, failed, byState, lastEndedAt }: RunCalls): RunCallsView {
  const ended = lastEndedAt === null ? null : rfc3339(lastEndedAt);
  return { total, open, failed, by_state: byState, last_ended_at: ended };
}

export const runRoutes: readonly Route[] = [createRoute, listRoute, getRoute, cancelRoute];
