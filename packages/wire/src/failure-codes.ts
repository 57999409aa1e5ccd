interface FailureRow {
  /** The HTTP status of a refusal with this code. */
  readonly status: number;
  /** Whether the same request may succeed later. Where the outcome of a call decides: if none is known. */
  readonly retryable: boolean;
  /** What the exit code of a command depends on. */
  readonly kind: 'not_found' | 'usage' | 'denied' | 'timeout' | 'unreachable' | 'failed';
  /** The `error_type` of the tenant API. */
  readonly tenant: TenantErrorName;
}

/** The kinds of error of the tenant API that a failure code maps to. */
export type TenantErrorName =
  | 'ToolNotFoundError'
  | 'PermissionError'
  | 'InternalError'
  | 'ValidationError'
  | 'RateLimitError'
  | 'TimeoutError'
  | 'InputRequiredError'
  | 'ValueError'
  | 'OutputValidationError';

/**
 * Every code in the `error` of a call record or in a problem document, with all that follows from it. Its sentences are
 * in the engine (the meaning) and in the SDK (the advice, in English and Chinese).
 */
export const FAILURE_TABLE = {
  tool_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'ToolNotFoundError' },
  method_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'ToolNotFoundError' },
  method_not_callable: { status: 403, retryable: false, kind: 'denied', tenant: 'PermissionError' },
  call_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  run_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  key_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  grant_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  resource_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  prompt_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  route_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'InternalError' },
  method_not_allowed: { status: 405, retryable: false, kind: 'failed', tenant: 'InternalError' },
  input_invalid: { status: 422, retryable: false, kind: 'usage', tenant: 'ValidationError' },
  body_invalid: { status: 400, retryable: false, kind: 'usage', tenant: 'ValidationError' },
  content_type: { status: 415, retryable: false, kind: 'failed', tenant: 'InternalError' },
  too_large: { status: 413, retryable: false, kind: 'usage', tenant: 'InternalError' },
  auth_required: { status: 401, retryable: false, kind: 'denied', tenant: 'PermissionError' },
  permission_denied: { status: 403, retryable: false, kind: 'denied', tenant: 'PermissionError' },
  hook_denied: { status: 403, retryable: false, kind: 'denied', tenant: 'PermissionError' },
  approval_denied: { status: 403, retryable: false, kind: 'denied', tenant: 'PermissionError' },
  approval_expired: { status: 403, retryable: true, kind: 'denied', tenant: 'PermissionError' },
  input_unavailable: { status: 409, retryable: false, kind: 'failed', tenant: 'InputRequiredError' },
  input_declined: { status: 409, retryable: false, kind: 'denied', tenant: 'InputRequiredError' },
  input_expired: { status: 504, retryable: true, kind: 'timeout', tenant: 'InputRequiredError' },
  name_invalid: { status: 422, retryable: false, kind: 'usage', tenant: 'InternalError' },
  name_taken: { status: 409, retryable: false, kind: 'usage', tenant: 'InternalError' },
  schema_invalid: { status: 422, retryable: false, kind: 'failed', tenant: 'InternalError' },
  conflict: { status: 409, retryable: false, kind: 'failed', tenant: 'InternalError' },
  idempotency_mismatch: { status: 422, retryable: false, kind: 'failed', tenant: 'InternalError' },
  rate_limited: { status: 429, retryable: true, kind: 'failed', tenant: 'RateLimitError' },
  queue_full: { status: 503, retryable: true, kind: 'failed', tenant: 'InternalError' },
  queue_timeout: { status: 503, retryable: true, kind: 'timeout', tenant: 'TimeoutError' },
  overloaded: { status: 503, retryable: true, kind: 'failed', tenant: 'InternalError' },
  provider_offline: { status: 503, retryable: true, kind: 'failed', tenant: 'InternalError' },
  provider_disconnected: { status: 502, retryable: false, kind: 'failed', tenant: 'InternalError' },
  timeout: { status: 504, retryable: true, kind: 'timeout', tenant: 'TimeoutError' },
  cancelled: { status: 409, retryable: false, kind: 'failed', tenant: 'InternalError' },
  interrupted: { status: 500, retryable: false, kind: 'failed', tenant: 'InternalError' },
  value_not_found: { status: 404, retryable: false, kind: 'not_found', tenant: 'ValueError' },
  tool_failed: { status: 502, retryable: false, kind: 'failed', tenant: 'InternalError' },
  resource_failed: { status: 502, retryable: false, kind: 'failed', tenant: 'InternalError' },
  output_invalid: { status: 502, retryable: false, kind: 'failed', tenant: 'OutputValidationError' },
  result_too_large: { status: 502, retryable: false, kind: 'failed', tenant: 'OutputValidationError' },
  result_invalid: { status: 502, retryable: false, kind: 'failed', tenant: 'OutputValidationError' },
  sandbox_unavailable: { status: 503, retryable: false, kind: 'failed', tenant: 'InternalError' },
  upstream_unreachable: { status: 502, retryable: true, kind: 'failed', tenant: 'InternalError' },
  storage_full: { status: 507, retryable: true, kind: 'failed', tenant: 'InternalError' },
  storage_unavailable: { status: 503, retryable: true, kind: 'failed', tenant: 'InternalError' },
  misdirected: { status: 421, retryable: false, kind: 'unreachable', tenant: 'InternalError' },
  internal: { status: 500, retryable: true, kind: 'failed', tenant: 'InternalError' },
} as const;

export type FailureCode = keyof typeof FAILURE_TABLE;

export const FAILURE_CODES: readonly FailureCode[] = Object.keys(FAILURE_TABLE) as FailureCode[];

export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(FAILURE_TABLE, value);
}

/** One column of the table. */
export function byFailureCode<Value>(of: (row: FailureRow) => Value): Readonly<Record<FailureCode, Value>> {
  const rows = FAILURE_CODES.map((code) => [code, of(FAILURE_TABLE[code])] as const);
  return Object.fromEntries(rows) as Record<FailureCode, Value>;
}
