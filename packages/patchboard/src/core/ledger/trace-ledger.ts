import type { FailureCode } from '@patchboard/wire';
import { attemptsOf, endedAt, isOpen, type Call } from '../call/call.ts';
import type { CommittedRow, Store } from '../ports.ts';

/** One call of a trace, accepted or refused, as recorded in the ledger. */
export interface TraceEntry {
  readonly seq: number;
  readonly at: number;
  readonly tenant: string;
  readonly traceId: string;
  readonly siteId: string | null;
  readonly agentId: string;
  /** Null: the call was refused. */
  readonly callId: string | null;
  readonly toolName: string;
  /** Hash of the arguments. */
  readonly argsHash: string | null;
  readonly status: 'success' | 'error' | 'pending';
  /** Null while the call has not ended. */
  readonly latencyMs: number | null;
  readonly attempts: number;
  readonly code: string | null;
  /** The error message; only the code if the call is no longer stored. */
  readonly error: string | null;
  /** The result came from the cache. */
  readonly isCached: boolean;
}

/** The members of the first row of a call, or of a refusal, that are used here. */
interface FirstRowBody {
  readonly tool_name?: string;
  readonly agent_id?: string;
  readonly site_id?: string;
  readonly args_sha256?: string;
  readonly code?: FailureCode;
  readonly message?: string;
  readonly decision?: { readonly rule?: string };
}

interface StateRowBody {
  readonly state?: string;
  readonly code?: string;
  readonly attempt?: number;
}

const PAGE = 200;

/** Returns up to `limit` calls of a trace after row `after`, oldest first. */
export async function readTrace(
  store: Pick<Store, 'readLedger'>,
  filter: { readonly tenant: string; readonly traceId: string },
  after: number,
  limit: number,
): Promise<readonly TraceEntry[]> {
  const entries: TraceEntry[] = [];
  let last = after;
  for (;;) {
    const rows = await store.readLedger(filter, last, PAGE);
    for (const committed of rows) {
      const entry = await entryOf(store, committed);
      if (entry !== null) entries.push(entry);
      if (entries.length === limit) return entries;
    }
    const end = rows.at(-1);
    if (end === undefined || rows.length < PAGE) return entries;
    last = end.row.seq;
  }
}

/** Returns null if the row is not the first one of a call, nor a refusal. */
async function entryOf(
  store: Pick<Store, 'readLedger'>,
  { row, call }: CommittedRow,
): Promise<TraceEntry | null> {
  if (row.kind !== 'call.state' && row.kind !== 'call.refused') return null;
  const body = JSON.parse(row.body) as FirstRowBody;
  if (body.tool_name === undefined) return null;
  const begun = {
    seq: row.seq,
    at: row.at,
    tenant: row.tenant,
    traceId: row.traceId ?? '',
    siteId: body.site_id ?? null,
    agentId: body.agent_id ?? '',
    callId: row.callId,
    toolName: body.tool_name,
    argsHash: body.args_sha256 ?? null,
    isCached: body.decision?.rule === 'cache',
  };
  if (row.callId === null) {
    const { code = null, message = null } = body;
    return { ...begun, status: 'error', latencyMs: 0, attempts: 0, code, error: message ?? code };
  }
  return { ...begun, ...(call === null ? await endOfPurged(store, row.callId, row.at) : endOf(call)) };
}

type End = Pick<TraceEntry, 'status' | 'latencyMs' | 'attempts' | 'code' | 'error'>;

function endOf(call: Call): End {
  const attempts = attemptsOf(call);
  if (isOpen(call)) return { status: 'pending', latencyMs: null, attempts, code: null, error: null };
  const latencyMs = (endedAt(call) ?? call.createdAt) - call.createdAt;
  const { state } = call;
  if (!('error' in state)) return { status: 'success', latencyMs, attempts, code: null, error: null };
  return { status: 'error', latencyMs, attempts, code: state.error.code, error: state.error.message };
}

/** The end of a call that is no longer stored, from its rows, which are never removed. */
async function endOfPurged(store: Pick<Store, 'readLedger'>, callId: string, at: number): Promise<End> {
  const rows = await store.readLedger({ callId, kinds: ['call.state'] }, 0, PAGE, { withCalls: false });
  const states = rows.map(({ row }) => ({ ...(JSON.parse(row.body) as StateRowBody), at: row.at }));
  const attempts = Math.max(0, ...states.map(({ attempt = 0 }) => attempt));
  const last = states.at(-1);
  const code = last?.code ?? null;
  const status = last?.state === 'COMPLETED' ? 'success' : 'error';
  return { status, latencyMs: (last?.at ?? at) - at, attempts, code, error: code };
}
