import type { CallStateName, CallView, FailureCode, InputIssueView } from '@patchboard/wire';

/** Which of the classes below an error is; unlike `instanceof` it holds across two copies of this package. */
export type ErrorKind = 'problem' | 'bad_response' | 'network' | 'timeout' | 'tool_call';

/** What only a client can know. */
export type ClientErrorCode = 'network_error' | 'client_timeout' | 'bad_response';

/** The server's codes, the client's own, and whatever a newer server may add. */
export type ErrorCode = FailureCode | ClientErrorCode | (string & {});

export interface ErrorFacts {
  readonly code: ErrorCode;
  readonly status?: number | null;
  readonly retryable?: boolean;
  readonly toolCallId?: string | null;
  readonly issues?: readonly InputIssueView[];
  readonly recommendations?: readonly string[];
  readonly state?: CallStateName | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** Everything this package throws, except a caller's own abort reason and `TypeError` for wrong options. */
export class PatchboardError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  /** The HTTP status, or null where there was no answer. */
  readonly status: number | null;
  /** Whether the same request may do better later, with nothing changed. */
  readonly retryable: boolean;
  /** What went wrong in this case, in words; the same text as `message`. */
  readonly detail: string;
  /** The call that was recorded, if one was. */
  readonly toolCallId: string | null;
  /** What is wrong with the arguments, by JSON pointer. */
  readonly issues: readonly InputIssueView[];
  readonly recommendations: readonly string[];
  /** The state that stands, in a conflict. */
  readonly state: CallStateName | null;
  /** What the server asked for with `Retry-After`. */
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
    this.recommendations = facts.recommendations ?? [];
    this.state = facts.state ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** The server could not be reached, or the connection ended before the answer. */
export class NetworkError extends PatchboardError {
  constructor(detail: string, cause?: unknown) {
    super('network', detail, { code: 'network_error', retryable: true, cause });
    this.name = 'NetworkError';
  }
}

/** The caller's own time limit passed. The call itself, if `toolCallId` names one, goes on. */
export class TimeoutError extends PatchboardError {
  constructor(detail: string, facts: { readonly toolCallId?: string | null; readonly cause?: unknown } = {}) {
    super('timeout', detail, { ...facts, code: 'client_timeout', retryable: true });
    this.name = 'TimeoutError';
  }
}

/** The call ended, and not well. `call` is its whole record. */
export class ToolCallFailed extends PatchboardError {
  readonly call: CallView;

  constructor(call: CallView) {
    const error = call.error;
    super('tool_call', error?.message ?? `the call ended as ${call.state}`, {
      code: error?.code ?? 'tool_failed',
      retryable: error?.retryable ?? false,
      toolCallId: call.tool_call_id,
      recommendations: error?.recommendations ?? [],
      state: call.state,
    });
    this.name = 'ToolCallFailed';
    this.call = call;
  }
}
