import type { StatementSync } from 'node:sqlite';
import type { Decision } from '../../core/access/guard.ts';
import type { CallOrigin } from '../../core/call/call-origin.ts';
import { endedAt, type Call } from '../../core/call/call.ts';
import type { NewCall } from '../../core/ports.ts';
import { STATE_CODES } from '../state-codes.ts';
import { mutableJson, mutableMembers, resultOf, type CallColumns } from '../stored-call.ts';

/** The columns of `calls`. */
interface CallRow extends CallColumns {
  readonly no: number;
  readonly ended_at: number | null;
  readonly idempotency_scope: string | null;
  readonly idempotency_hash: string | null;
  readonly idempotency_expires_at: number | null;
}

type Column = keyof CallRow;

/** In the order of the values that `insertCall` binds. */
export const CALL_COLUMNS: readonly Column[] = [
  'no',
  'id',
  'version',
  'state',
  'created_at',
  'ended_at',
  'tenant',
  'run_id',
  'agent_id',
  'tool_name',
  'tool_version',
  'source',
  'timeout_ms',
  'decision',
  'client_id',
  'target',
  'trace_id',
  'span_id',
  'origin',
  'replay_of',
  'parent_call_id',
  'fence',
  'idempotency_scope',
  'idempotency_hash',
  'idempotency_expires_at',
  'tail',
  'args',
  'result',
];

/** Binds the values one by one, which is faster than spreading an array. A test compares names and values. */
export function insertCall(statement: StatementSync, no: number, { call, idempotency }: NewCall): void {
  statement.run(
    no,
    call.id,
    call.version,
    STATE_CODES[call.state.name],
    call.createdAt,
    endedAt(call),
    call.tenant,
    call.runId,
    call.agentId,
    call.toolName,
    call.toolVersion,
    call.source,
    call.timeoutMs,
    JSON.stringify(call.decision),
    call.clientId,
    call.target,
    call.traceId,
    call.spanId,
    call.origin === null ? null : JSON.stringify(call.origin),
    call.replayOf,
    call.parentCallId,
    call.fence,
    idempotency?.scope ?? null,
    idempotency?.bodyHash ?? null,
    idempotency?.expiresAt ?? null,
    mutableJson(call),
    call.argsJson,
    resultOf(call),
  );
}

/** Columns that are used in SQL only and are not part of a call. */
const SEARCHED_ONLY: ReadonlySet<Column> = new Set<Column>([
  'no',
  'ended_at',
  'idempotency_scope',
  'idempotency_hash',
  'idempotency_expires_at',
]);

/** In the order of the values that `toCall` expects. */
export const READ_COLUMNS: readonly Column[] = CALL_COLUMNS.filter((name) => !SEARCHED_ONLY.has(name));

/** The index of a column in the values that `toCall` expects. */
type Place<Name extends Column> = number & { readonly column?: Name };

/** Rows are read as arrays, which takes half the time; the places are looked up by name once. */
const AT = Object.fromEntries(READ_COLUMNS.map((name, place) => [name, place])) as {
  readonly [Name in Column]: Place<Name>;
};

/** The tables are strict, so the column types are guaranteed. */
function at<Name extends Column>(row: readonly unknown[], place: Place<Name>): CallRow[Name] {
  return row[place] as CallRow[Name];
}

/** `values` are the columns of `READ_COLUMNS`. */
export function toCall(values: unknown): Call {
  const row = values as readonly unknown[];
  const origin = at(row, AT.origin);
  return {
    id: at(row, AT.id),
    tenant: at(row, AT.tenant),
    runId: at(row, AT.run_id),
    agentId: at(row, AT.agent_id),
    toolName: at(row, AT.tool_name),
    toolVersion: at(row, AT.tool_version),
    source: at(row, AT.source),
    clientId: at(row, AT.client_id),
    target: at(row, AT.target),
    argsJson: at(row, AT.args),
    timeoutMs: at(row, AT.timeout_ms),
    traceId: at(row, AT.trace_id),
    spanId: at(row, AT.span_id),
    origin: origin === null ? null : (JSON.parse(origin) as CallOrigin),
    replayOf: at(row, AT.replay_of),
    parentCallId: at(row, AT.parent_call_id),
    fence: at(row, AT.fence),
    createdAt: at(row, AT.created_at),
    decision: JSON.parse(at(row, AT.decision)) as Decision,
    version: at(row, AT.version),
    ...mutableMembers(at(row, AT.tail), at(row, AT.state), at(row, AT.result)),
  };
}
