import { rfc3339, type RefusedCallView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { BadCursor } from '../../core/ports.ts';
import type { IndexedRefusal } from '../../core/search/call-search.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf, type PageQuery } from '../shared/routes/paging.ts';
import { COMPLETE, queryOf } from '../shared/routes/query-parameters.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import { COUNT, listOf, nullable, object, optional, TEXT, TIME } from '../shared/routes/schemas.ts';

const REFUSED_CALL = object({
  seq: { ...COUNT, description: 'of its ledger row' },
  at: TIME,
  agent_id: TEXT,
  tool_name: TEXT,
  code: TEXT,
  message: TEXT,
  trace_id: nullable(TEXT),
});

export const refusedCallsRoute: Route = route({
  method: 'GET',
  url: '/v1/refused_calls',
  name: 'listRefusedCalls',
  api: 'agent',
  summary:
    'Requests that were refused before a call was recorded, newest first. An agent gets its own only. Of a flood of `rate_limited` refusals not each one has a row.',
  scope: 'calls:read',
  query: optional({
    query: {
      ...TEXT,
      description: 'the keys tool, agent, code, trace, since and until of `GET /v1/tool_calls`',
    },
    ...PAGE_QUERY,
  }),
  responses: {
    200: {
      description: 'one page',
      schema: object({ refused_calls: listOf(REFUSED_CALL), next_cursor: NEXT_CURSOR, complete: COMPLETE }),
    },
  },
  refusals: ['storage_unavailable'],
  handle: listRefusedCalls,
});

/** The time of the first page, and the last sequence number of the page before. */
const CURSOR = /^(\d{1,15})\.(\d{1,15})$/;

async function listRefusedCalls(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery & { query?: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const given = request.query;
  const { limit, cursor } = pageOf(given);
  const [, startedAt = Math.floor(context.clock.now()), before] = cursorParts(cursor);
  const query = queryOf(given.query, Number(startedAt), 'refused');
  const page = await context.engine.searches.refusals(
    principalOf(request),
    query,
    before === undefined ? null : Number(before),
    limit,
  );
  const rows = page.items.map((refusal) => JSON.stringify(refusedCallView(refusal)));
  const next = page.next === null ? null : `${startedAt}.${page.next}`;
  sendJson(reply, 200, pageJson('refused_calls', rows, next, page.isComplete));
}

function cursorParts(cursor: string | null): readonly string[] {
  if (cursor === null) return [];
  const parts = CURSOR.exec(cursor);
  if (parts === null) throw new BadCursor();
  return parts;
}

function refusedCallView(refusal: IndexedRefusal): RefusedCallView {
  const { seq, at, agentId, toolName, code, message, traceId } = refusal;
  return { seq, at: rfc3339(at), agent_id: agentId, tool_name: toolName, code, message, trace_id: traceId };
}
