import { rfc3339, type TraceLedgerView } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { readTrace, type TraceEntry } from '../../core/ledger/trace-ledger.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import {
  NEXT_CURSOR,
  PAGE_QUERY,
  pageJson,
  pageOf,
  sequenceOf,
  type PageQuery,
} from '../shared/routes/paging.ts';
import { type RequestWith, route, type Route, sendJson } from '../shared/routes/routes.ts';
import {
  COUNT,
  FLAG,
  headers,
  listOf,
  nullable,
  object,
  PEER_ID,
  TEXT,
  TIME,
} from '../shared/routes/schemas.ts';

const ENTRY = object({
  trace_id: TEXT,
  tenant_id: TEXT,
  site_id: nullable(TEXT),
  at: TIME,
  tool_calls: listOf(
    object({
      tool_call_id: nullable({ ...TEXT, description: 'null if it was refused and no call was recorded' }),
      tool_name: TEXT,
      agent_id: TEXT,
      attempts: COUNT,
      cached: FLAG,
      request_payload_hash: nullable({
        ...TEXT,
        description: 'full SHA-256 of the recorded arguments, after changes by hooks',
      }),
    }),
  ),
  latency_ms: nullable(COUNT),
  status: { enum: ['success', 'error', 'pending'] },
  error: nullable(TEXT),
  error_code: nullable(TEXT),
});

export const traceLedgerRoute: Route = route({
  method: 'GET',
  url: '/v1/trace_ledger',
  name: 'readTraceLedger',
  api: 'operator',
  summary: 'Every call of a trace, refused ones included, oldest first.',
  scope: 'ledger:read',
  takesInternalKey: true,
  headers: headers({
    'x-internal-api-key': { ...TEXT, description: 'a service reads the traces of its own tenant' },
  }),
  query: object({ trace_id: PEER_ID, ...PAGE_QUERY }, ['limit', 'cursor']),
  responses: {
    200: {
      description: 'one page',
      schema: object({ trace_ledger: listOf(ENTRY), next_cursor: NEXT_CURSOR }),
    },
  },
  refusals: [],
  handle: readTraceLedger,
});

async function readTraceLedger(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery & { trace_id: string } }>,
  reply: FastifyReply,
): Promise<void> {
  const { query } = request;
  const { tenant } = principalOf(request);
  const { limit, cursor } = pageOf(query);
  const filter = { tenant, traceId: query.trace_id };
  const entries = await readTrace(context.store, filter, sequenceOf(cursor), limit);
  const last = entries.length < limit ? undefined : entries.at(-1);
  const views = entries.map((entry) => JSON.stringify(entryView(entry)));
  sendJson(reply, 200, pageJson('trace_ledger', views, last === undefined ? null : String(last.seq)));
}

function entryView(entry: TraceEntry): TraceLedgerView {
  return {
    trace_id: entry.traceId,
    tenant_id: entry.tenant,
    site_id: entry.siteId,
    at: rfc3339(entry.at),
    tool_calls: [
      {
        tool_call_id: entry.callId,
        tool_name: entry.toolName,
        agent_id: entry.agentId,
        attempts: entry.attempts,
        cached: entry.isCached,
        request_payload_hash: entry.argsHash,
      },
    ],
    latency_ms: entry.latencyMs,
    status: entry.status,
    error: entry.error,
    error_code: entry.code,
  };
}
