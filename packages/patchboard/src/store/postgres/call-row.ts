import type { Decision } from '../../core/access/guard.ts';
import type { CallOrigin } from '../../core/call/call-origin.ts';
import { endedAt, type Call } from '../../core/call/call.ts';
import type { NewCall } from '../../core/ports.ts';
import { int4Array, int8Array, textArray } from '../../postgres/arrays.ts';
import { STATE_CODES } from '../state-codes.ts';
import { mutableJson, mutableMembers, resultOf, type CallColumns } from '../stored-call.ts';
import type { ReplaceWrite } from './write.ts';

/**
 * The columns of `calls`, which is written once; the arguments may change. A new one is null for calls that were recorded
 * before it.
 */
export const CALL_COLUMNS = [
  ['id', 'text'],
  ['created_at', 'int8'],
  ['tenant', 'text'],
  ['run_id', 'text'],
  ['agent_id', 'text'],
  ['tool_name', 'text'],
  ['tool_version', 'text'],
  ['source', 'text'],
  ['timeout_ms', 'int8'],
  ['decision', 'text'],
  ['client_id', 'text'],
  ['target', 'text'],
  ['trace_id', 'text'],
  ['span_id', 'text'],
  ['origin', 'text'],
  ['replay_of', 'text'],
  ['parent_call_id', 'text'],
  ['fence', 'text'],
  ['args', 'text'],
] as const;

type CallColumn = (typeof CALL_COLUMNS)[number];

/** The names of the columns of one type. */
type Named<Type> = Extract<CallColumn, readonly [string, Type]>[0];

/** The value of each column of `CALL_COLUMNS`. */
const TEXTS: Readonly<Record<Named<'text'>, (call: Call) => string | null>> = {
  id: (call) => call.id,
  tenant: (call) => call.tenant,
  run_id: (call) => call.runId,
  agent_id: (call) => call.agentId,
  tool_name: (call) => call.toolName,
  tool_version: (call) => call.toolVersion,
  source: (call) => call.source,
  decision: (call) => JSON.stringify(call.decision),
  client_id: (call) => call.clientId,
  target: (call) => call.target,
  trace_id: (call) => call.traceId,
  span_id: (call) => call.spanId,
  origin: (call) => (call.origin === null ? null : JSON.stringify(call.origin)),
  replay_of: (call) => call.replayOf,
  parent_call_id: (call) => call.parentCallId,
  fence: (call) => call.fence,
  args: (call) => call.argsJson,
};
const NUMBERS: Readonly<Record<Named<'int8'>, (call: Call) => number>> = {
  created_at: (call) => call.createdAt,
  timeout_ms: (call) => call.timeoutMs,
};

/** The columns of open and ended calls beside the id. `ended_at` is null for an open call, `deadline_at` for an ended one. */
const STATE_COLUMNS = ['version', 'state', 'ended_at', 'deadline_at', 'tail', 'result'] as const;
const STATE_TYPES = ['int4', 'int4', 'int8', 'int8', 'text', 'text'] as const;

/** `$1::text[], $2::int8[], …` for `unnest`. */
function parameters(types: readonly string[]): string {
  return types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
}

const INSERT_COLUMNS = [...CALL_COLUMNS.map(([name]) => name), ...STATE_COLUMNS, 'scope'];
const INSERT_TYPES = [...CALL_COLUMNS.map(([, type]) => type), ...STATE_TYPES, 'text'];
const REPLACE_COLUMNS = ['id', 'expected', 'keeps_holder', ...STATE_COLUMNS];
const REPLACE_TYPES = ['text', 'int4', 'int4', ...STATE_TYPES];

/** New calls as the rows of `x`. The next free parameter is `AFTER_INSERTED`. */
export const INSERTED_ROWS: string = `select * from unnest(${parameters(INSERT_TYPES)})
  with ordinality as t (${INSERT_COLUMNS.join(', ')}, n)`;
export const AFTER_INSERTED: number = INSERT_TYPES.length + 1;

/** Changed calls as the rows of `x`, with the version that they replace. */
export const REPLACED_ROWS: string = `select * from unnest(${parameters(REPLACE_TYPES)})
  as t (${REPLACE_COLUMNS.join(', ')})`;
export const AFTER_REPLACED: number = REPLACE_TYPES.length + 1;

export const CALL_COLUMN_NAMES: string = CALL_COLUMNS.map(([name]) => name).join(', ');

/** The parameters of `INSERTED_ROWS`. */
export function insertedValues(records: readonly NewCall[]): Buffer[] {
  const calls = records.map(({ call }) => call);
  const scopes = records.map(({ idempotency }) => idempotency?.scope ?? null);
  return [...CALL_COLUMNS.map((column) => valuesOf(column, calls)), ...stateValues(calls), textArray(scopes)];
}

/** The parameters of `REPLACED_ROWS`. */
export function replacedValues(writes: readonly ReplaceWrite[]): Buffer[] {
  const calls = writes.map(({ call }) => call);
  return [
    textArray(calls.map(({ id }) => id)),
    int4Array(writes.map(({ expectedVersion }) => expectedVersion)),
    int4Array(writes.map(({ keepsHolder }) => (keepsHolder ? 1 : 0))),
    ...stateValues(calls),
  ];
}

function valuesOf([name, type]: CallColumn, calls: readonly Call[]): Buffer {
  return type === 'int8' ? int8Array(calls.map(NUMBERS[name])) : textArray(calls.map(TEXTS[name]));
}

function stateValues(calls: readonly Call[]): Buffer[] {
  return [
    int4Array(calls.map(({ version }) => version)),
    int4Array(calls.map(({ state }) => STATE_CODES[state.name])),
    int8Array(calls.map((call) => endedAt(call))),
    int8Array(calls.map(({ state }) => ('deadlineAt' in state ? state.deadlineAt : null))),
    textArray(calls.map(mutableJson)),
    textArray(calls.map(resultOf)),
  ];
}

/** The columns of `calls`, with those of its row in `open_calls` or `ended_calls`. */
export interface CallRow extends CallColumns {
  readonly owner: number | null;
}

export function callOf(row: CallRow): Call {
  return {
    id: row.id,
    tenant: row.tenant,
    runId: row.run_id,
    agentId: row.agent_id,
    toolName: row.tool_name,
    toolVersion: row.tool_version,
    source: row.source,
    clientId: row.client_id,
    target: row.target,
    argsJson: row.args,
    timeoutMs: row.timeout_ms,
    traceId: row.trace_id,
    spanId: row.span_id,
    origin: row.origin === null ? null : (JSON.parse(row.origin) as CallOrigin),
    replayOf: row.replay_of,
    parentCallId: row.parent_call_id,
    fence: row.fence,
    createdAt: row.created_at,
    decision: JSON.parse(row.decision) as Decision,
    version: row.version,
    ...mutableMembers(row.tail, row.state, row.result),
  };
}
