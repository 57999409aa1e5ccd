import { endedAt, type Call } from '../../core/call/call.ts';
import type { NewCall } from '../../core/ports.ts';
import { int4Array, int8Array, textArray } from '../../postgres/arrays.ts';
import { STATE_CODES } from '../state-codes.ts';
import { mutableJson, resultOf } from '../stored-call.ts';
import { CALL_COLUMNS } from './schema.ts';
import type { ReplaceWrite } from './write.ts';

/** Reads the value of each column of `CALL_COLUMNS`, in that order. A test compares them. */
const TEXTS: Readonly<Record<string, (call: Call) => string | null>> = {
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
const NUMBERS: Readonly<Record<string, (call: Call) => number>> = {
  created_at: (call) => call.createdAt,
  timeout_ms: (call) => call.timeoutMs,
};

/** The columns of open and ended calls beside the id. `ended_at` is null for an open call, `deadline_at` for an ended one. */
const STATE_COLUMNS = ['version', 'state', 'ended_at', 'deadline_at', 'tail', 'result'] as const;
const STATE_TYPES = ['int4', 'int4', 'int8', 'int8', 'text', 'text'] as const;

/** `$1::text[], $2::int8[], …` for `unnest`. */
function parameters(types: readonly string[], first = 1): string {
  return types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
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
  return [...CALL_COLUMNS.map(([name]) => column(name, calls)), ...stateValues(calls), textArray(scopes)];
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

function column(name: string, calls: readonly Call[]): Buffer {
  const number = NUMBERS[name];
  if (number !== undefined) return int8Array(calls.map(number));
  const text = TEXTS[name];
  if (text === undefined) throw new Error(`no member of a call is stored as ${name}`);
  return textArray(calls.map(text));
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
