import type { FailureCode } from './failure-codes.ts';
import type { ReasonView } from './reasons/reason.ts';
import type { CallErrorView, InputAction, JsonSchema, ToolAnnotations } from './views.ts';

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

export interface AckRequest {
  readonly attempt_token?: string;
  /** Names the program that runs the call. A request of another one is refused. */
  readonly program_id?: string;
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

/** Why a tool that asked its caller got no input. A client may report it as the code of its failure. */
export const INPUT_FAILURE_CODES = ['input_unavailable', 'input_declined'] as const;

export type InputFailureCode = (typeof INPUT_FAILURE_CODES)[number];

/** The body of `POST /internal/tool_calls/:id/input_request`. */
export interface ClientInputRequest {
  /** Chosen by the client, unique within the attempt: the same request sent again is recorded once. */
  readonly key: string;
  readonly message: string;
  readonly schema?: JsonSchema;
  readonly url?: string;
  readonly attempt_token: string;
  /** As in `AckRequest`: a call that is not acknowledged begins with its first input request. */
  readonly program_id?: string;
}

/** The response to `ClientInputRequest`. Without `action` the caller has not responded yet. */
export interface ClientInputView {
  readonly tool_call_id: string;
  readonly input_request_id: string;
  /** When the request expires; while there is no response. */
  readonly expires_at?: string;
  readonly action?: InputAction;
  /** Absent for a link and for a declined request. */
  readonly content?: unknown;
  /** The new deadline of the call, once there is a response: the clock of the tool stood still. */
  readonly deadline_at?: string;
}
