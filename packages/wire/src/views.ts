import type { CallStateName, CallStatus } from './call-state.ts';
import type { FailureCode } from './failure-codes.ts';
import type { ReasonView } from './reasons/reason.ts';
import type { RunCallsView, RunOutcomeName } from './search/search-views.ts';

/** All sources of tools. */
export const TOOL_SOURCES = ['server', 'client', 'mcp', 'openapi'] as const;

/** Where a tool runs: in the server, on a client, on an upstream MCP server, or behind an HTTP API with an OpenAPI description. */
export type ToolSourceName = (typeof TOOL_SOURCES)[number];

/** The sandbox in which commands and file changes run; `none`: no sandbox. */
export type SandboxName = 'bubblewrap' | 'seatbelt' | 'none';

/** Whether work that failed or was interrupted may have had an effect. */
export type OutcomeKnowledge = 'unknown' | 'not_started';

export interface ToolAnnotations {
  readonly readonly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  readonly requires_approval?: boolean;
  /** The tool may ask its caller for input while it runs. */
  readonly asks_input?: boolean;
}

/** JSON Schema as sent; the engine compiles it. */
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
  /** Code and parameters of the message; absent if a tool, a client or an older version wrote it. */
  readonly reasons?: readonly ReasonView[];
  readonly retryable: boolean;
  readonly outcome?: OutcomeKnowledge;
  readonly recommendations?: readonly string[];
  readonly note?: string;
}

export interface ReceiptView {
  readonly tool_call_id: string;
  readonly status: 'pending';
  readonly message: string;
  /** Present if the caller waited and the tool needs input. */
  readonly state?: 'INPUT_REQUIRED';
  readonly input_request?: InputRequestView;
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
  /** The connected device that received the request; absent if none did. */
  readonly device?: string;
}

export interface ApprovalView {
  readonly required: boolean;
  readonly digest: string;
  readonly expires_at: string;
  /** Metadata from the hook that required the approval. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly decision?: 'allow' | 'deny';
  readonly decided_by?: string;
  readonly decided_at?: string;
  readonly note?: string;
  /** The agent's arguments, if the operator changed them. */
  readonly original_args?: unknown;
}

/** What the caller of a tool can do with an input request. */
export const INPUT_ACTIONS = ['accept', 'decline'] as const;

export type InputAction = (typeof INPUT_ACTIONS)[number];

/**
 * What a tool may ask its caller for: content that fits a schema, a visit to a link, a message of the caller's language
 * model, or the caller's roots. The last two are `sampling/createMessage` and `roots/list` of MCP.
 */
export const INPUT_KINDS = ['form', 'url', 'sampling', 'roots'] as const;

export type InputKind = (typeof INPUT_KINDS)[number];

/** What a running tool needs from its caller. */
export interface InputRequestView {
  readonly id: string;
  /** Absent in the responses of an older server, which knows `form` and `url` only. */
  readonly kind?: InputKind;
  readonly message: string;
  /** JSON Schema of the content; absent if the request is a link. */
  readonly schema?: JsonSchema;
  /** A link that the caller's user is to visit. The response has no content. */
  readonly url?: string;
  /** The parameters of `sampling/createMessage`; the content of the response is its result. */
  readonly sampling?: Readonly<Record<string, unknown>>;
  readonly expires_at: string;
}

/** One input request of a call with its response. */
export interface InputRoundView extends InputRequestView {
  readonly requested_at: string;
  /** Absent until the caller responds. */
  readonly action?: InputAction;
  /** Redacted like the arguments of the call once it has ended. */
  readonly content?: unknown;
  readonly responded_at?: string;
}

/** The body of `POST /v1/tool_calls/:id/input`. */
export interface InputResponseBody {
  /** The id of the input request. */
  readonly id: string;
  /** Default: `accept`. */
  readonly action?: InputAction;
  readonly content?: unknown;
}

/** The policy decision on a call. */
export interface DecisionView {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly rule: string;
  readonly reason: string;
  /** Code and parameters of `reason`; absent in records of an older version. */
  readonly reasons?: readonly ReasonView[];
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
  /** Time from creation to the end, including waiting. Null while the call is open, as are the next two. */
  readonly duration_ms: number | null;
  /** Time before the first execution: waiting for approval, a slot or the client. Equals `duration_ms` if it never ran. */
  readonly waited_ms: number | null;
  /** Time from the first execution to the end. */
  readonly ran_ms: number | null;
  readonly deadline_at: string | null;
  readonly replay_of: string | null;
  /** Hash of the tool's contract when the call was made; absent in the responses of an older server. */
  readonly tool_version?: string;
  /** The trace that the caller named; absent if it named none. */
  readonly trace_id?: string;
  /** The call that the sub-agent which made this one works for; absent for other calls. */
  readonly parent_call_id?: string;
  /** The sandbox in which the call ran; null if the tool uses none. */
  readonly sandbox: SandboxName | null;
  /**
   * The run's workspace moved to the node that ran the call, because its former node is gone: files of earlier calls are not
   * there. Absent otherwise.
   */
  readonly workspace?: 'new';
  readonly timeline: readonly TimelineEntryView[];
  /** The `writer` of the node that holds the call, or ended it; absent if only one node can use the store. */
  readonly node?: number;
  /** The MCP client that made the call; absent for other calls. */
  readonly mcp_client?: McpClientView;
  /** The first input request without a response; present while the call waits for it. */
  readonly input_request?: InputRequestView;
  /** All input requests of the call; absent if there are none. */
  readonly inputs?: readonly InputRoundView[];
}

/** An MCP client as it describes itself. Unverified. */
export interface McpClientView {
  readonly name: string;
  /** Empty if the client names none. */
  readonly version: string;
}

export interface RunView {
  readonly run_id: string;
  readonly agent_id: string;
  readonly created_at: string;
  readonly cancelled_at: string | null;
  /** Absent in the responses of an older server, as is `calls`. */
  readonly outcome?: RunOutcomeName;
  readonly calls?: RunCallsView;
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

/** `GET /v1/trace_ledger`: one call of a trace, including refused ones. */
export interface TraceLedgerView {
  readonly trace_id: string;
  readonly tenant_id: string;
  readonly site_id: string | null;
  readonly at: string;
  /** Always has exactly one element. */
  readonly tool_calls: readonly TraceCallView[];
  /** Null while the call is open. */
  readonly latency_ms: number | null;
  readonly status: string;
  readonly error: string | null;
  readonly error_code: string | null;
}

export interface TraceCallView {
  /** Null if the request was refused before a call was recorded. */
  readonly tool_call_id: string | null;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly attempts: number;
  readonly cached: boolean;
  /** SHA-256 hash of the arguments. */
  readonly request_payload_hash: string | null;
}

/** A problem document (RFC 9457, `application/problem+json`), used by every API. */
export interface ProblemView {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Code and parameters of `detail`; absent if another program wrote it. */
  readonly reasons?: readonly ReasonView[];
  readonly code: FailureCode;
  readonly retryable: boolean;
  readonly recommendations?: readonly string[];
  readonly tool_call_id?: string;
  readonly errors?: readonly InputIssueView[];
  readonly state?: CallStateName;
}

/** One validation error. `path` is a JSON pointer into the input. */
export interface InputIssueView {
  readonly path: string;
  readonly message: string;
  /** Code and parameters of `message`; absent if another program wrote it. */
  readonly reasons?: readonly ReasonView[];
  /** Where in a query, from 1, and how many characters; absent for other input. */
  readonly column?: number;
  readonly length?: number;
}

/** `POST /v1/tools/:name/invoke?dry_run=true`. */
export interface DryRunView {
  /** Whether the arguments are valid. They are not checked if the policy denies the caller this tool. */
  readonly valid: boolean;
  readonly errors: readonly InputIssueView[];
  readonly decision: {
    readonly effect: 'allow' | 'ask' | 'deny';
    readonly rule: string;
    readonly reason: string;
    readonly reasons?: readonly ReasonView[];
  };
  readonly route: {
    readonly source: ToolSourceName;
    readonly client_id: string | null;
    readonly online: boolean;
  };
}
