import { isTerminal, type CallStateName, type FailureCode, type SandboxName } from '@patchboard/wire';
import { endedAt, type Approval, type Call, type TimelineEntry } from '../core/call/call.ts';
import type { Failure } from '../core/failures.ts';
import { inputsOf, pendingInputs, type ToolCallInput, type ToolCallInputRequest } from './tool-call-input.ts';

/** The record of a call, for embedding programs. Times are epoch milliseconds. */
export interface ToolCallRecord {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: CallStateName;
  readonly approval: ToolCallApproval;
  readonly result?: unknown;
  readonly error?: string;
  readonly code?: FailureCode;
  /** The complete failure; `error` and `code` are its message and code. */
  readonly failure?: Failure;
  readonly isError: boolean;
  /** The sandbox in which the call ran; absent if the tool uses none. */
  readonly sandbox?: SandboxName;
  /** The run's workspace moved to another node, without the files of earlier calls. Absent otherwise. */
  readonly workspace?: 'new';
  /** The input request for which the call waits; with several, the first. `board.respondInput` takes its id. */
  readonly inputRequest?: ToolCallInputRequest;
  /** All input requests of the call; absent if there are none. */
  readonly inputs?: readonly ToolCallInput[];
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly durationMs?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly auditTrail: readonly ToolCallAuditEntry[];
}

export interface ToolCallApproval {
  readonly required: boolean;
  readonly decision?: 'allow' | 'deny';
  readonly decidedBy?: string;
  readonly decidedAt?: number;
  readonly note?: string;
  /** Why the call needs approval. */
  readonly reason?: string;
  /** Metadata from the hook that required the approval. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface ToolCallAuditEntry {
  readonly state: CallStateName;
  readonly timestamp: number;
  readonly note?: string;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

export function toRecord(call: Call): ToolCallRecord {
  const { state, timeline, createdAt } = call;
  const record: Writable<ToolCallRecord> = {
    id: call.id,
    name: call.toolName,
    input: JSON.parse(call.argsJson) as unknown,
    state: state.name,
    approval: call.approval === null ? NOT_REQUIRED : approvalOf(call.approval),
    isError: isTerminal(state.name) && state.name !== 'COMPLETED',
    createdAt,
    updatedAt: timeline.at(-1)?.at ?? createdAt,
    auditTrail: timeline.map(auditEntry),
  };
  if (call.inputs.length > 0) addInputs(record, call);
  if (call.sandbox !== null) record.sandbox = call.sandbox;
  if (call.workspace !== undefined) record.workspace = call.workspace;
  if ('resultJson' in state) record.result = JSON.parse(state.resultJson) as unknown;
  if ('error' in state) {
    record.error = state.error.message;
    record.code = state.error.code;
    record.failure = state.error;
  }
  const started = timeline.find((entry) => entry.state === 'EXECUTING')?.at;
  const completed = endedAt(call);
  if (started !== undefined) record.startedAt = started;
  if (completed !== null) record.completedAt = completed;
  if (started !== undefined && completed !== null) record.durationMs = completed - started;
  return record;
}

function addInputs(record: Writable<ToolCallRecord>, call: Call): void {
  record.inputs = inputsOf(call);
  const [pending] = pendingInputs(call);
  if (pending === undefined) return;
  const { callId: _callId, toolName: _toolName, ...request } = pending;
  record.inputRequest = request;
}

function auditEntry({ state, at, code }: TimelineEntry): ToolCallAuditEntry {
  return code === undefined ? { state, timestamp: at } : { state, timestamp: at, note: code };
}

const NOT_REQUIRED: ToolCallApproval = Object.freeze({ required: false });

function approvalOf({ decision, decidedBy, decidedAt, note, reason, meta }: Approval): ToolCallApproval {
  return {
    required: true,
    reason,
    ...(meta === undefined ? {} : { meta }),
    ...(decision === null ? {} : { decision }),
    ...(decidedBy === null ? {} : { decidedBy }),
    ...(decidedAt === null ? {} : { decidedAt }),
    ...(note === null ? {} : { note }),
  };
}
