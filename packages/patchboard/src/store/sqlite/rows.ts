import type { SQLOutputValue } from 'node:sqlite';
import { CALL_STATES, type CallStateName } from '@patchboard/wire';
import type { Approval, Call, CallState, TimelineEntry } from '../../core/call.ts';
import type { Decision } from '../../core/guard.ts';
import type { Run } from '../../core/ports.ts';
import type { StoredTool } from '../../core/registry.ts';

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
  readonly timeline: readonly TimelineEntry[];
}

export function tailOf({ state, approval, timeline, argsRedacted }: Call): string {
  const rest = argsRedacted ? { argsRedacted } : {};
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
      return { deadlineAt: state.deadlineAt, attempt: state.attempt, cause: state.cause };
    case 'COMPLETED':
      return { resultDigest: state.resultDigest };
    default:
      return { error: state.error, resultDigest: state.resultDigest };
  }
}

export function toCall(row: Row): Call {
  const tail = JSON.parse(text(row, 'tail')) as Tail;
  const name = stateNameOf(integer(row, 'state'));
  const state =
    name === 'COMPLETED' ? { name, resultJson: text(row, 'result'), ...tail.state } : { name, ...tail.state };
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    runId: text(row, 'run_id'),
    agentId: text(row, 'agent_id'),
    toolName: text(row, 'tool_name'),
    toolVersion: text(row, 'tool_version'),
    source: text(row, 'source') as Call['source'],
    clientId: textOrNull(row, 'client_id'),
    target: textOrNull(row, 'target'),
    argsJson: text(row, 'args'),
    argsRedacted: tail.argsRedacted === true,
    timeoutMs: integer(row, 'timeout_ms'),
    traceId: textOrNull(row, 'trace_id'),
    replayOf: textOrNull(row, 'replay_of'),
    fence: textOrNull(row, 'fence'),
    createdAt: integer(row, 'created_at'),
    decision: JSON.parse(text(row, 'decision')) as Decision,
    version: integer(row, 'version'),
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

export function toTool(row: Row): StoredTool {
  return {
    tenant: text(row, 'tenant'),
    clientId: text(row, 'client_id'),
    wireName: text(row, 'wire_name'),
    spec: JSON.parse(text(row, 'spec')) as StoredTool['spec'],
    registeredAt: integer(row, 'registered_at'),
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
