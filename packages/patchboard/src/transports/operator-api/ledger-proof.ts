import { once } from 'node:events';
import { rfc3339 } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { verifyLedger } from '../../core/ledger-check.ts';
import type { HttpContext } from '../shared/context.ts';
import { principalOf } from '../shared/identity.ts';
import { sendJson, type Route } from '../shared/routes.ts';
import { COUNT, FLAG, nullable, object, TEXT } from '../shared/schemas.ts';
import { rowJson } from './ledger.ts';

const HEAD = object({ seq: COUNT, hash: TEXT });

const verifyRoute: Route = {
  method: 'GET',
  url: '/v1/ledger/verify',
  name: 'verifyLedger',
  face: 'operator',
  summary: 'Read the whole chain and say whether every link holds, or where the first one breaks.',
  scope: 'ledger:read',
  answers: {
    200: {
      description: 'the verdict',
      schema: object({
        ok: FLAG,
        rows: COUNT,
        head: nullable(HEAD),
        seq: nullable(COUNT),
        problem: nullable(TEXT),
      }),
    },
  },
  refusals: [],
  handle: verify,
};

async function verify(context: HttpContext, _request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const verdict = await verifyLedger(context.store, context.digest);
  const { ok, rows } = verdict;
  const body = verdict.ok
    ? { ok, rows, head: verdict.head, seq: null, problem: null }
    : { ok, rows, head: null, seq: verdict.seq, problem: verdict.problem };
  sendJson(reply, 200, JSON.stringify(body));
}

const exportRoute: Route = {
  method: 'GET',
  url: '/v1/ledger/export',
  name: 'exportLedger',
  face: 'operator',
  summary:
    "The tenant's rows as JSON lines, oldest first; the last line is the chain's head at the start of the export.",
  scope: 'ledger:read',
  answers: { 200: { description: 'JSON lines', schema: TEXT, type: 'application/jsonl' } },
  refusals: [],
  isStream: true,
  handle: exportRows,
};

const PAGE = 500;

async function exportRows(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { store, clock } = context;
  const { tenant } = principalOf(request);
  const head = await store.ledgerHead();
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { 'content-type': 'application/jsonl; charset=utf-8', 'cache-control': 'no-store' });
  let seq = 0;
  while (seq < head.seq && !raw.destroyed) {
    const rows = await store.readLedger({ tenant }, seq, PAGE);
    if (rows.length === 0) break;
    const due = rows.filter(({ row }) => row.seq <= head.seq);
    const text = due.map(({ row }) => `${rowJson(row)}\n`).join('');
    if (!raw.write(text)) await Promise.race([once(raw, 'drain'), once(raw, 'close')]);
    seq = rows.at(-1)?.row.seq ?? head.seq;
  }
  raw.end(`${JSON.stringify({ head, tenant_id: tenant, exported_at: rfc3339(clock.now()) })}\n`);
}

export const ledgerProofRoutes: readonly Route[] = [verifyRoute, exportRoute];
