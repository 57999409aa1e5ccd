import { CALL_STATES, CALL_STATUSES, type CallStateName, reason, statesOf } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { denied, failure, type Failure } from '../../core/failures.ts';
import { narrowedTo } from '../../core/call/visibility.ts';
import type { CallListPage } from '../../core/search/call-lists.ts';
import type { WantedCalls } from '../../core/search/list-criteria.ts';
import { parseListCursor } from '../../core/search/list-cursor.ts';
import { callRowJson } from '../shared/views/call-view.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import {
  COMPLETE,
  momentOf,
  queryOf,
  SINCE,
  SORT_QUERY,
  sortOf,
  UNTIL,
} from '../shared/routes/query-parameters.ts';
import { type RequestWith, route, type Route, sendJson, type ValueOf } from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import { enumOf, listOf, object, optional, TEXT } from '../shared/routes/schemas.ts';

const QUERY = optional({
  query: {
    ...TEXT,
    description:
      'such as `tool:weather.* state:failed ran>2s "text in the arguments"`; see docs/guides/search.md',
  },
  ...SORT_QUERY,
  run_id: TEXT,
  tool_name: TEXT,
  agent_id: TEXT,
  status: enumOf(CALL_STATUSES),
  state: enumOf(CALL_STATES),
  since: SINCE,
  until: UNTIL,
  ...PAGE_QUERY,
});

type CallsQuery = ValueOf<typeof QUERY>;

export const listCallsRoute: Route = route({
  method: 'GET',
  url: '/v1/tool_calls',
  name: 'listCalls',
  api: 'agent',
  summary:
    'Calls that match a query, newest first or sorted. Calls that neither change nor are made between two pages are listed once; with a sort by duration, one that starts or ends between them may be listed twice or not at all.',
  scope: 'calls:read',
  query: QUERY,
  responses: {
    200: {
      description: 'one page; of large calls it holds fewer than `limit`',
      schema: object({ tool_calls: listOf(ref('Call')), next_cursor: NEXT_CURSOR, complete: COMPLETE }),
    },
  },
  refusals: ['permission_denied', 'storage_unavailable'],
  handle: listCalls,
});

async function listCalls(
  context: HttpContext,
  request: RequestWith<{ query: CallsQuery }>,
  reply: FastifyReply,
): Promise<void> {
  const { query } = request;
  const { limit, cursor } = pageOf(query);
  const principal = principalOf(request);
  const foreign = foreignAgent(narrowedTo(principal).agentId ?? null, query.agent_id);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const startedAt = startOf(context, cursor);
  const wanted = wantedCalls(query, startedAt);
  const listed = { ...wanted, sort: sortOf(query), cursor, limit, startedAt };
  const page = await context.engine.searches.calls(principal, listed);
  sendJson(reply, 200, callPageJson(context, page));
}

/** The time of the first page of the list. */
export function startOf({ clock }: HttpContext, cursor: string | null): number {
  return (cursor === null ? null : parseListCursor(cursor).startedAt) ?? Math.floor(clock.now());
}

export function callPageJson({ engine }: HttpContext, page: CallListPage): string {
  const rows = page.items.map((call) => callRowJson(call, engine.calls.nodeOf(call)));
  return pageJson('tool_calls', rows, page.nextCursor, page.isComplete);
}

/** Refuses a query for another agent's calls if the principal only sees its own. */
export function foreignAgent(own: string | null, agentId: string | undefined): Failure | null {
  if (own === null || agentId === undefined || agentId === own) return null;
  return failure('permission_denied', denied(reason('credential_other_agent', { agent: agentId })));
}

function wantedCalls(query: CallsQuery, now: number): WantedCalls {
  const since = momentOf(query.since, now, 'since');
  const until = momentOf(query.until, now, 'until');
  const filter = {
    ...(query.run_id === undefined ? {} : { runId: query.run_id }),
    ...(query.tool_name === undefined ? {} : { toolName: query.tool_name }),
    ...(query.agent_id === undefined ? {} : { agentId: query.agent_id }),
    ...(query.status === undefined && query.state === undefined ? {} : { states: statesFor(query) }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
  return { filter, query: queryOf(query.query, now, 'calls') };
}

/** If both are given, the states that match both. */
function statesFor({ status, state }: CallsQuery): readonly CallStateName[] {
  const states = status === undefined ? CALL_STATES : statesOf(status);
  return state === undefined ? states : states.filter((name) => name === state);
}
