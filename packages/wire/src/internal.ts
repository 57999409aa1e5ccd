import type { FailureCode } from './failure-codes.ts';
import type { ReasonView } from './reasons/reason.ts';
import type { CallErrorView, JsonSchema, ToolAnnotations } from './views.ts';

/** One tool as a client registers it. */
export interface ToolSpec {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly timeout_ms?: number;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly output_schema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
}

export interface RegisterRequest {
  readonly client_id: string;
  readonly tools: readonly ToolSpec[];
}

export interface RejectedTool {
  readonly name: string;
  readonly code: string;
  readonly reason: string;
  /** What `reason` was made from. */
  readonly reasons?: readonly ReasonView[];
}

export interface RegisterResponse {
  readonly ok: boolean;
  readonly registered_count: number;
  readonly rejected: readonly RejectedTool[];
}

/** Asks a client to run a call. The client returns `attempt_token` with the result; it is a fencing token against stale workers. */
export interface ToolRequest {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly args: unknown;
  readonly timeout_ms: number;
  readonly attempt: number;
  readonly attempt_token: string;
  readonly deadline_at: string;
  /** W3C trace context of the caller. */
  readonly traceparent?: string;
}

export interface SubmitRequest {
  readonly status: 'SUCCEEDED' | 'FAILED';
  readonly result?: unknown;
  readonly error?: string | Partial<CallErrorView> | null;
  readonly attempt_token?: string;
}

export interface SubmitResponse {
  readonly ok: boolean;
  readonly tool_call_id: string;
  readonly status: string;
  /** Why the result was not stored as sent; absent if it was. */
  readonly error?: SubmissionError;
}

/** Why a call failed although its provider sent a result. */
export interface SubmissionError {
  readonly code: FailureCode;
  readonly message: string;
}
