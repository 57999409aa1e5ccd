import { isTerminal, type CallStateName, type FailureCode } from '@patchboard/wire';
import { endedAt, type Call } from '../core/call.ts';
import type { Failure } from '../core/failures.ts';

/** A call as an embedder sees it. Times are epoch milliseconds. */
export interface ToolCallRecord {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: CallStateName;
  readonly approval: ToolCallApproval;
  readonly result?: unknown;
  readonly error?: string;
  readonly code?: FailureCode;
  /** The whole of what `error` and `code` say in short. */
  readonly failure?: Failure;
  readonly isError: boolean;
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
  /** Why it needs approval. */
  readonly reason?: string;
  /** What the hook that asked had to say. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface ToolCallAuditEntry {
  readonly state: CallStateName;
  readonly timestamp: number;
  readonly note?: string;
}

export function toRecord(call: Call): ToolCallRecord {
  const started = call.timeline.find((entry) => entry.state === 'EXECUTING')?.at;
  const completed = endedAt(call) ?? undefined;
  const { state } = call;
  return {
    id: call.id,
    name: call.toolName,
    input: JSON.parse(call.argsJson) as unknown,
    state: state.name,
    approval: approvalOf(call),
    ...('resultJson' in state ? { result: JSON.parse(state.resultJson) as unknown } : {}),
    ...('error' in state ? { error: state.error.message, code: state.error.code, failure: state.error } : {}),
    isError: isTerminal(state.name) && state.name !== 'COMPLETED',
    ...(started === undefined ? {} : { startedAt: started }),
    ...(completed === undefined ? {} : { completedAt: completed }),
    ...(started === undefined || completed === undefined ? {} : { durationMs: completed - started }),
    createdAt: call.createdAt,
    updatedAt: call.timeline.at(-1)?.at ?? call.createdAt,
    auditTrail: call.timeline.map(({ state: name, at, code }) => ({
      state: name,
      timestamp: at,
      ...(code === undefined ? {} : { note: code }),
    })),
  };
}

function approvalOf({ approval }: Call): ToolCallApproval {
  if (approval === null) return { required: false };
  const { decision, decidedBy, decidedAt, note, reason, meta } = approval;
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
