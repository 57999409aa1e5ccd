import type { CallStateName, CallView, FailureCode, InputIssueView, ReasonView } from '@patchboard/wire';

/** The class of an error. Unlike `instanceof`, it works across two copies of this package. */
export type ErrorKind = 'problem' | 'bad_response' | 'network' | 'timeout' | 'tool_call' | 'input';

/** Codes of errors that the client itself detects. */
export type ClientErrorCode = 'network_error' | 'client_timeout' | 'bad_response';

/** The server's codes, the client's own, and any that a newer server adds. */
export type ErrorCode = FailureCode | ClientErrorCode | (string & {});

export interface ErrorFacts {
  readonly code: ErrorCode;
  readonly status?: number | null;
  readonly retryable?: boolean;
  readonly toolCallId?: string | null;
  readonly issues?: readonly InputIssueView[];
  readonly reasons?: readonly ReasonView[];
  readonly recommendations?: readonly string[];
  readonly state?: CallStateName | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** Base class of all errors of this package, except the caller's abort reason and `TypeError` for invalid options. */
export class PatchboardError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  /** The HTTP status, or null if there was no response. */
  readonly status: number | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Description of the error; the same text as `message`. */
  readonly detail: string;
  /** The call that was recorded, if one was. */
  readonly toolCallId: string | null;
  /** Validation errors of the arguments, by JSON pointer. */
  readonly issues: readonly InputIssueView[];
  /** Code and parameters of `detail`, for programs and translations; empty if another program wrote it. */
  readonly reasons: readonly ReasonView[];
  readonly recommendations: readonly string[];
  /** The current state of the call, in a conflict. */
  readonly state: CallStateName | null;
  /** The server's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(kind: ErrorKind, detail: string, facts: ErrorFacts) {
    super(detail, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'PatchboardError';
    this.kind = kind;
    this.detail = detail;
    this.code = facts.code;
    this.status = facts.status ?? null;
    this.retryable = facts.retryable ?? false;
    this.toolCallId = facts.toolCallId ?? null;
    this.issues = facts.issues ?? [];
    this.reasons = facts.reasons ?? [];
    this.recommendations = facts.recommendations ?? [];
    this.state = facts.state ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** The server could not be reached, or the connection ended before the response was complete. */
export class NetworkError extends PatchboardError {
  constructor(detail: string, cause?: unknown) {
    super('network', detail, { code: 'network_error', retryable: true, cause });
    this.name = 'NetworkError';
  }
}

/** The caller's time limit passed. The call in `toolCallId`, if any, continues. */
export class TimeoutError extends PatchboardError {
  constructor(detail: string, facts: { readonly toolCallId?: string | null; readonly cause?: unknown } = {}) {
    super('timeout', detail, { ...facts, code: 'client_timeout', retryable: true });
    this.name = 'TimeoutError';
  }
}

/** The call ended in a status other than SUCCEEDED. `call` is its record. */
export class ToolCallFailed extends PatchboardError {
  readonly call: CallView;

  constructor(call: CallView) {
    const error = call.error;
    super('tool_call', error?.message ?? `the call ended as ${call.state}`, {
      code: error?.code ?? 'tool_failed',
      retryable: error?.retryable ?? false,
      toolCallId: call.tool_call_id,
      reasons: error?.reasons ?? [],
      recommendations: error?.recommendations ?? [],
      state: call.state,
    });
    this.name = 'ToolCallFailed';
    this.call = call;
  }
}
