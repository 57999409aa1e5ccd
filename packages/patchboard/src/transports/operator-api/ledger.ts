import { reason, rfc3339 } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { denied, failure, type Failure } from '../../core/failures.ts';
import type { LedgerRow } from '../../core/ledger/ledger.ts';
import type { LedgerFilter } from '../../core/ports.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf, sequenceOf, timeOf } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson, type ValueOf } from '../shared/routes/routes.ts';
import { ref } from '../shared/routes/components.ts';
import { listOf, object, optional, PEER_ID, SEQUENCE, TEXT } from '../shared/routes/schemas.ts';

const QUERY = optional({
  trace_id: TEXT,
  tool_call_id: TEXT,
  tenant_id: PEER_ID,
  from: { ...TEXT, description: 'at or after; RFC 3339, or epoch seconds' },
  to: { ...TEXT, description: 'before; RFC 3339, or epoch seconds' },
  after: { ...SEQUENCE, description: 'rows with a greater `seq`' },
  ...PAGE_QUERY,
});

type LedgerQuery = ValueOf<typeof QUERY>;

export const ledgerRoute: Route = route({
  method: 'GET',
  url: '/v1/ledger',
  name: 'readLedger',
  api: 'operator',
  summary: 'The record of every change, oldest first.',
  scope: 'ledger:read',
  query: QUERY,
  responses: {
    200: {
      description: 'one page',
      schema: object({ rows: listOf(ref('LedgerRow')), next_cursor: NEXT_CURSOR }),
    },
  },
  refusals: ['permission_denied'],
  handle: readLedger,
});

async function readLedger(
  context: HttpContext,
  request: RequestWith<{ query: LedgerQuery }>,
  reply: FastifyReply,
): Promise<void> {
  const { query } = request;
  const principal = principalOf(request);
  const foreign = foreignTenant(principal, query.tenant_id);
  if (foreign !== null) {
    sendProblem(reply, foreign);
    return;
  }
  const { limit, cursor } = pageOf(query);
  const filter = filterOf(principal, query);
  const rows = await context.store.readLedger(filter, startOf(query, cursor), limit, { withCalls: false });
  const last = rows.length < limit ? undefined : rows.at(-1);
  const next = last === undefined ? null : String(last.row.seq);
  sendJson(
    reply,
    200,
    pageJson(
      'rows',
      rows.map(({ row }) => rowJson(row)),
      next,
    ),
  );
}

/** Refuses another tenant than the credential's. In local mode any tenant may be named. */
function foreignTenant(principal: Principal, tenant: string | undefined): Failure | null {
  if (tenant === undefined || tenant === principal.tenant || principal.credential === null) return null;
  return failure('permission_denied', denied(reason('credential_other_tenant', { tenant })));
}

function filterOf(principal: Principal, query: LedgerQuery): LedgerFilter {
  const from = timeOf({ ...query }, 'from');
  const to = timeOf({ ...query }, 'to');
  return {
    tenant: query.tenant_id ?? principal.tenant,
    ...(query.tool_call_id === undefined ? {} : { callId: query.tool_call_id }),
    ...(query.trace_id === undefined ? {} : { traceId: query.trace_id }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

function startOf(query: LedgerQuery, cursor: string | null): number {
  return Math.max(sequenceOf(cursor), Number(query.after ?? 0));
}

export function rowJson({ seq, at, tenant, kind, callId, traceId, body, hash }: LedgerRow): string {
  const text = JSON.stringify;
  return (
    `{"seq":${seq},"at":"${rfc3339(at)}","tenant_id":${text(tenant)},"kind":"${kind}"` +
    `,"tool_call_id":${text(callId)},"trace_id":${text(traceId)},"body":${body},"hash":"${hash}"}`
  );
}
