import type { SQLOutputValue } from 'node:sqlite';
import { CALL_STATES, type CallStateName, type SandboxName } from '@patchboard/wire';
import type { Approval, Call, CallState, TimelineEntry } from '../../core/call/call.ts';
import type { CallOrigin } from '../../core/call/call-origin.ts';
import type { Decision } from '../../core/access/guard.ts';
import type { Run } from '../../core/ports.ts';

export type Row = Record<string, SQLOutputValue>;

/** As stored; never renumber. The open states come first, and 4 is named in the migrations. */
export const STATE_CODES: Readonly<Record<CallStateName, number>> = {
  PENDING: 0,
  APPROVAL_REQUIRED: 1,
  APPROVED: 2,
  EXECUTING: 3,
  COMPLETED: 4,
  FAILED: 5,
  TIMED_OUT: 6,
  DENIED: 7,
  CANCELLED: 8,
  SEALED: 9,
};

const STATE_NAMES: ReadonlyMap<number, CallStateName> = new Map(
  CALL_STATES.map((name) => [STATE_CODES[name], name]),
);

export function stateNameOf(code: number): CallStateName {
  const name = STATE_NAMES.get(code);
  if (name === undefined) throw new Error(`no call state has the code ${code}`);
  return name;
}

/** One bit per state: a filter by any set of states is one test. */
export function stateMask(states: readonly CallStateName[]): number {
  return states.reduce((mask, state) => mask | (1 << STATE_CODES[state]), 0);
}

type Detail<State> = State extends CallState ? Omit<State, 'name' | 'resultJson'> : never;

/** What changes after a call is recorded, apart from the columns that are searched and the result's text. */
interface Tail {
  readonly state: Detail<CallState>;
  readonly approval: Approval | null;
  /** Absent: false. */
  readonly argsRedacted?: true;
  /** Absent: it uses none. */
  readonly sandbox?: SandboxName;
  readonly timeline: readonly TimelineEntry[];
}

export function tailOf({ state, approval, timeline, argsRedacted, sandbox }: Call): string {
  const rest = { ...(argsRedacted ? { argsRedacted } : {}), ...(sandbox === null ? {} : { sandbox }) };
  const tail: Tail = { state: detailOf(state), approval, timeline, ...rest };
  return JSON.stringify(tail);
}

export function resultOf({ state }: Call): string | null {
  return state.name === 'COMPLETED' ? state.resultJson : null;
}

function detailOf(state: CallState): Detail<CallState> {
  switch (state.name) {
    case 'PENDING':
    case 'APPROVAL_REQUIRED':
    case 'APPROVED':
      return { deadlineAt: state.deadlineAt };
    case 'EXECUTING':
      return {
        deadlineAt: state.deadlineAt,
        attempt: state.attempt,
        cause: state.cause,
        ...(state.device === undefined ? {} : { device: state.device }),
      };
    case 'COMPLETED':
      return { resultDigest: state.resultDigest };
    default:
      return { error: state.error, resultDigest: state.resultDigest };
  }
}

/** What `toCall` takes, in its order. */
export const CALL_COLUMNS: readonly string[] = [
  'id',
  'tenant',
  'run_id',
  'agent_id',
  'tool_name',
  'tool_version',
  'source',
  'client_id',
  'target',
  'args',
  'timeout_ms',
  'trace_id',
  'replay_of',
  'fence',
  'created_at',
  'decision',
  'version',
  'state',
  'tail',
  'result',
  'span_id',
  'parent_call_id',
  'origin',
];

type CallValues = readonly [
  id: string,
  tenant: string,
  runId: string,
  agentId: string,
  toolName: string,
  toolVersion: string,
  source: Call['source'],
  clientId: string | null,
  target: string | null,
  argsJson: string,
  timeoutMs: number,
  traceId: string | null,
  replayOf: string | null,
  fence: string | null,
  createdAt: number,
  decision: string,
  version: number,
  state: number,
  tail: string,
  result: string | null,
  spanId: string | null,
  parentCallId: string | null,
  origin: string | null,
];

/** From values by position, because rows with names take twice as long; the tables are strict, so the types hold. */
export function toCall(values: unknown): Call {
  const row = values as CallValues;
  const tail = JSON.parse(row[18]) as Tail;
  const name = stateNameOf(row[17]);
  const state = name === 'COMPLETED' ? { name, resultJson: row[19], ...tail.state } : { name, ...tail.state };
  return {
    id: row[0],
    tenant: row[1],
    runId: row[2],
    agentId: row[3],
    toolName: row[4],
    toolVersion: row[5],
    source: row[6],
    clientId: row[7],
    target: row[8],
    argsJson: row[9],
    argsRedacted: tail.argsRedacted === true,
    timeoutMs: row[10],
    sandbox: tail.sandbox ?? null,
    traceId: row[11],
    spanId: row[20],
    origin: row[22] === null ? null : (JSON.parse(row[22]) as CallOrigin),
    replayOf: row[12],
    parentCallId: row[21],
    fence: row[13],
    createdAt: row[14],
    decision: JSON.parse(row[15]) as Decision,
    version: row[16],
    // Written by `tailOf` from a state of that name.
    state: state as CallState,
    approval: tail.approval,
    timeline: tail.timeline,
  };
}

export function toRun(row: Row): Run {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    agentId: text(row, 'agent_id'),
    createdAt: integer(row, 'created_at'),
    cancelledAt: row['cancelled_at'] === null ? null : integer(row, 'cancelled_at'),
  };
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new Error(`column ${column} holds no text`);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw new Error(`column ${column} holds no number`);
  return value;
}
