import type { CallStateName, CallStatus } from './call-state.ts';
import type { FailureCode } from './failure-codes.ts';

/** Where a tool runs: in the server, on a client, or behind an upstream MCP server. */
export type ToolSourceName = 'server' | 'client' | 'mcp';

/** What encloses commands and file changes; `none`: nothing does. */
export type SandboxName = 'bubblewrap' | 'seatbelt' | 'none';

/** Whether work that did not end well may have had an effect. */
export type OutcomeKnowledge = 'unknown' | 'not_started';

export interface ToolAnnotations {
  readonly readonly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly requires_approval?: boolean;
}

/** JSON Schema as it travels; the engine compiles it. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

/** One row of `GET /v1/tools`. */
export interface ToolView {
  readonly name: string;
  readonly source: ToolSourceName;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly timeout_ms: number;
  readonly wire_name: string;
  readonly version: string;
  readonly annotations: ToolAnnotations;
}

/** `GET /v1/tools/:name`. */
export interface ToolDetailView extends ToolView {
  readonly output_schema: JsonSchema | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly provider: {
    readonly kind: ToolSourceName;
    readonly client_id: string | null;
    readonly online: boolean;
  };
}

export interface CallErrorView {
  readonly code: FailureCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly outcome?: OutcomeKnowledge;
  readonly recommendations?: readonly string[];
  readonly note?: string;
}

export interface ReceiptView {
  readonly tool_call_id: string;
  readonly status: 'pending';
  readonly message: string;
}

export interface TimelineEntryView {
  readonly state: CallStateName;
  readonly at: string;
  readonly attempt?: number;
  readonly code?: FailureCode;
}

export interface AttemptView {
  readonly attempt: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly code: FailureCode | null;
  /** The connected device that was asked; absent: none was. */
  readonly device?: string;
}

export interface ApprovalView {
  readonly required: boolean;
  readonly digest: string;
  readonly expires_at: string;
  /** What the hook that asked had to say. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly decision?: 'allow' | 'deny';
  readonly decided_by?: string;
  readonly decided_at?: string;
  readonly note?: string;
  /** As the agent sent them, if the operator changed them. */
  readonly original_args?: unknown;
}

/** Why a call was allowed, asked about or denied. */
export interface DecisionView {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
  readonly policy_version: number;
}

/** The durable record of one call. `created_at` and `completed_at` are whole epoch seconds. */
export interface CallView {
  readonly tool_call_id: string;
  readonly run_id: string;
  readonly tool_name: string;
  readonly source: ToolSourceName;
  readonly status: CallStatus;
  readonly args: unknown;
  readonly result: unknown;
  readonly error: CallErrorView | null;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly state: CallStateName;
  readonly agent_id: string;
  readonly decision: DecisionView;
  readonly approval: ApprovalView | null;
  readonly attempts: readonly AttemptView[];
  /** From the record to the end, waiting included; null while it is open, as are the two below. */
  readonly duration_ms: number | null;
  /** Before its first execution: for an operator, a slot or its client. All of it, if it was never executed. */
  readonly waited_ms: number | null;
  /** From its first execution to its end. */
  readonly ran_ms: number | null;
  readonly deadline_at: string | null;
  readonly replay_of: string | null;
  /** What enclosed the work; null: the tool uses no sandbox. */
  readonly sandbox: SandboxName | null;
  readonly timeline: readonly TimelineEntryView[];
}

export interface RunView {
  readonly run_id: string;
  readonly agent_id: string;
  readonly created_at: string;
  readonly cancelled_at: string | null;
}

export interface LedgerRowView {
  readonly seq: number;
  readonly at: string;
  readonly tenant_id: string;
  readonly kind: string;
  readonly tool_call_id: string | null;
  readonly trace_id: string | null;
  readonly body: unknown;
  readonly hash: string;
}

/** `GET /v1/trace_ledger`: one call of a trace, refused ones too. */
export interface TraceLedgerView {
  readonly trace_id: string;
  readonly tenant_id: string;
  readonly site_id: string | null;
  readonly at: string;
  /** Always one. */
  readonly tool_calls: readonly TraceCallView[];
  /** Null while it goes on. */
  readonly latency_ms: number | null;
  readonly status: string;
  readonly error: string | null;
  readonly error_code: string | null;
}

export interface TraceCallView {
  /** Null: it was refused, and there is no call. */
  readonly tool_call_id: string | null;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly attempts: number;
  readonly cached: boolean;
  /** SHA-256 of the arguments. */
  readonly request_payload_hash: string | null;
}

/** RFC 9457; `application/problem+json` on every API. */
export interface ProblemView {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: FailureCode;
  readonly retryable: boolean;
  readonly recommendations?: readonly string[];
  readonly tool_call_id?: string;
  readonly errors?: readonly InputIssueView[];
  readonly state?: CallStateName;
}

/** One thing wrong with an input; `path` is a JSON pointer into it. */
export interface InputIssueView {
  readonly path: string;
  readonly message: string;
}

/** `POST /v1/tools/:name/invoke?dry_run=true`. */
export interface DryRunView {
  /** No fault was found in the arguments. Those of a tool that the caller may never call are not checked. */
  readonly valid: boolean;
  readonly errors: readonly InputIssueView[];
  readonly decision: {
    readonly effect: 'allow' | 'ask' | 'deny';
    readonly rule: string;
    readonly reason: string;
  };
  readonly route: {
    readonly source: ToolSourceName;
    readonly client_id: string | null;
    readonly online: boolean;
  };
}
