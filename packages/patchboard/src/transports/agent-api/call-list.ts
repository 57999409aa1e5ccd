import {
  CALL_STATES,
  CALL_STATUSES,
  type CallStateName,
  type CallStatus,
  reason,
  statesOf,
} from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { denied, failure, type Failure } from '../../core/failures.ts';
import type { CallFilter } from '../../core/ports.ts';
import { narrowedTo } from '../../core/call/visibility.ts';
import { callRowJson } from '../shared/views/call-view.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import {
  NEXT_CURSOR,
  PAGE_QUERY,
  pageJson,
  pageOf,
  TIME_QUERY,
  timeOf,
  type PageQuery,
} from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { listOf, object, optional, ref, TEXT } from '../shared/routes/schemas.ts';

interface CallsQuery extends PageQuery {
  readonly run_id?: string;
  readonly tool_name?: string;
  readonly agent_id?: string;
  readonly status?: CallStatus;
  readonly state?: CallStateName;
  readonly since?: string;
  readonly until?: string;
}

export const listCallsRoute: Route = {
  method: 'GET',
  url: '/v1/tool_calls',
  name: 'listCalls',
  api: 'agent',
  summary: 'Calls, newest first.',
  scope: 'calls:read',
  query: optional({
    run_id: TEXT,
    tool_name: TEXT,
    agent_id: TEXT,
    status: { enum: CALL_STATUSES },
    state: { enum: CALL_STATES },
    since: { ...TIME_QUERY, description: 'created at or after; RFC 3339, or epoch seconds' },
    until: { ...TIME_QUERY, description: 'created before; RFC 3339, or epoch seconds' },
    ...PAGE_QUERY,
  }),
  responses: {
    200: {
      description: 'one page; of large calls it holds fewer than `limit`',
      schema: object({ tool_calls: listOf(ref('Call')), next_cursor: NEXT_CURSOR }),
    },
  },
  refusals: ['permission_denied'],
  handle: listCalls,
};

async function listCalls(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const query = request.query as CallsQuery;
  const { limit, cursor } = pageOf(query);
  const principal = principalOf(request);
  const foreign = foreignAgent(narrowedTo(principal).agentId ?? null, query.agent_id);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const page = await context.engine.calls.list(principal, filterOf(query), cursor, limit);
  const rows = page.items.map((call) => callRowJson(call, context.engine.calls.nodeOf(call)));
  sendJson(reply, 200, pageJson('tool_calls', rows, page.nextCursor));
}

/** Refuses a query for another agent's calls if the principal only sees its own. */
export function foreignAgent(own: string | null, agentId: string | undefined): Failure | null {
  if (own === null || agentId === undefined || agentId === own) return null;
  return failure('permission_denied', denied(reason('credential_other_agent', { agent: agentId })));
}

function filterOf(query: CallsQuery): Omit<CallFilter, 'tenant'> {
  const since = timeOf({ ...query }, 'since');
  const until = timeOf({ ...query }, 'until');
  return {
    ...(query.run_id === undefined ? {} : { runId: query.run_id }),
    ...(query.tool_name === undefined ? {} : { toolName: query.tool_name }),
    ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }),
    ...(query.status === undefined && query.state === undefined ? {} : { states: statesFor(query) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** If both are given, the states that match both. */
function statesFor({ status, state }: CallsQuery): readonly CallStateName[] {
  const states = status === undefined ? CALL_STATES : statesOf(status);
  return state === undefined ? states : states.filter((name) => name === state);
}
