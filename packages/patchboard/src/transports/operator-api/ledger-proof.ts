import { rfc3339, type LedgerHeadView, type LedgerVerdictView } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../core/failures.ts';
import { checkpointText, parseCheckpoint } from '../../core/ledger/checkpoint.ts';
import type { LedgerVerdict } from '../../core/ledger/ledger-check.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { type RequestWith, route, type Route, sendJson, type ValueOf } from '../shared/routes/routes.ts';
import { CHECKPOINT, COUNT, FLAG, nullable, object, optional, TEXT } from '../shared/routes/schemas.ts';
import type { EventStream } from '../shared/streams/streams.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { rowJson } from './ledger.ts';

const HEAD = object({ seq: COUNT, hash: TEXT });

const VERIFY_QUERY = optional({
  from: {
    ...CHECKPOINT,
    description:
      '`checkpoint` of an earlier verification of this store: the row there must still have that hash, and only it and the rows ' +
      'after it are read',
  },
});

const verifyRoute: Route = route({
  method: 'GET',
  url: '/v1/ledger/verify',
  name: 'verifyLedger',
  api: 'operator',
  summary:
    'Verify the hash chain, and that stored calls match their rows; reports the first mismatch. Concurrent ' +
    'requests with the same `from` share one verification, others wait for it.',
  scope: 'ledger:read',
  query: VERIFY_QUERY,
  responses: {
    200: {
      description: 'the result of the verification',
      schema: object({
        ok: FLAG,
        rows: COUNT,
        head: nullable(HEAD),
        checkpoint: nullable(TEXT),
        seq: nullable(COUNT),
        problem: nullable(TEXT),
      }),
    },
  },
  refusals: [],
  handle: verify,
});

async function verify(
  context: HttpContext,
  { query }: RequestWith<{ query: ValueOf<typeof VERIFY_QUERY> }>,
  reply: FastifyReply,
): Promise<void> {
  const from = query.from === undefined ? null : parseCheckpoint(query.from);
  const verdict = await whileConnected(context, reply, () => context.ledgerVerifier.verify(from));
  sendJson(reply, 200, JSON.stringify(verdictView(verdict)));
}

function verdictView(verdict: LedgerVerdict): LedgerVerdictView {
  const { ok, rows } = verdict;
  if (!verdict.ok)
    return { ok, rows, head: null, checkpoint: null, seq: verdict.seq, problem: verdict.problem };
  const checkpoint = checkpointText(verdict.checkpoint);
  return { ok, rows, head: headView(verdict.head), checkpoint, seq: null, problem: null };
}

function headView({ seq, hash }: LedgerHeadView): LedgerHeadView {
  return { seq, hash };
}

const exportRoute: Route = {
  method: 'GET',
  url: '/v1/ledger/export',
  name: 'exportLedger',
  api: 'operator',
  summary:
    "The tenant's rows as JSON lines, oldest first; the last line is the chain's head at the start of the export.",
  scope: 'ledger:read',
  responses: { 200: { description: 'JSON lines', schema: TEXT, type: 'application/jsonl' } },
  refusals: [],
  isStream: true,
  handle: exportRows,
};

const PAGE = 100;

async function exportRows(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { store, streams, log } = context;
  const principal = principalOf(request);
  const head = headView(await store.ledgerHead());
  const stream = streams.openDocument(reply, principal, 'application/jsonl; charset=utf-8');
  try {
    await writeRows(context, stream, { tenant: principal.tenant, head });
    stream.end();
  } catch (error) {
    // Headers were sent already, so no problem response is possible.
    log.error('http.stream_failed', { error: messageOf(error) });
    stream.cutOff();
  }
}

async function writeRows(
  { store, clock }: HttpContext,
  stream: EventStream,
  { tenant, head }: { tenant: string; head: LedgerHeadView },
): Promise<void> {
  for (let seq = 0; seq < head.seq && stream.isOpen;) {
    const rows = await store.readLedger({ tenant }, seq, PAGE, { withCalls: false });
    const due = rows.filter(({ row }) => row.seq <= head.seq);
    stream.write(due.map(({ row }) => `${rowJson(row)}\n`).join(''));
    await stream.drained();
    seq = rows.at(-1)?.row.seq ?? head.seq;
  }
  stream.write(`${JSON.stringify({ head, tenant_id: tenant, exported_at: rfc3339(clock.now()) })}\n`);
}

export const ledgerProofRoutes: readonly Route[] = [verifyRoute, exportRoute];
