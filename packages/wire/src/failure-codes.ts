/** All that follows from a failure code. */
export interface FailureRow {
  /** The HTTP status of a refusal with this code. */
  readonly status: number;
  /** Whether the same request may succeed later. Where the outcome of a call decides: if none is known. */
  readonly retryable: boolean;
  /** What the exit code of a command depends on. */
  readonly kind: 'not_found' | 'usage' | 'denied' | 'timeout' | 'unreachable' | 'failed';
  /** The `error_type` of the tenant API. */
  readonly tenant: TenantErrorName;
  /** What an MCP client gets if `tools/call` fails with this code. */
  readonly mcp: McpFailureName;
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

/** A JSON-RPC error goes to the client program, `result` to the model, which can act on it. `with status`: an error by its status. */
export type McpFailureName = 'invalid params' | 'missing capability' | 'with status' | 'result';

type Row = readonly [
  status: FailureRow['status'],
  retryable: FailureRow['retryable'],
  kind: FailureRow['kind'],
  tenant: FailureRow['tenant'],
  mcp: FailureRow['mcp'],
];

/** Every code, as `Row` names its columns. Its meaning is in `reasons/failure-summaries.ts`, the advice in the SDK. */
const FAILURE_ROWS = {
  tool_not_found: [404, false, 'not_found', 'ToolNotFoundError', 'invalid params'],
  method_not_found: [404, false, 'not_found', 'ToolNotFoundError', 'invalid params'],
  method_not_callable: [403, false, 'denied', 'PermissionError', 'result'],
  call_not_found: [404, false, 'not_found', 'InternalError', 'invalid params'],
  run_not_found: [404, false, 'not_found', 'InternalError', 'invalid params'],
  key_not_found: [404, false, 'not_found', 'InternalError', 'invalid params'],
  grant_not_found: [404, false, 'not_found', 'InternalError', 'invalid params'],
  resource_not_found: [404, false, 'not_found', 'InternalError', 'invalid params'],
  prompt_not_found: [404, false, 'not_found', 'InternalError', 'invalid params'],
  route_not_found: [404, false, 'not_found', 'InternalError', 'with status'],
  method_not_allowed: [405, false, 'failed', 'InternalError', 'with status'],
  input_invalid: [422, false, 'usage', 'ValidationError', 'result'],
  body_invalid: [400, false, 'usage', 'ValidationError', 'invalid params'],
  content_type: [415, false, 'failed', 'InternalError', 'with status'],
  too_large: [413, false, 'usage', 'InternalError', 'with status'],
  auth_required: [401, false, 'denied', 'PermissionError', 'with status'],
  permission_denied: [403, false, 'denied', 'PermissionError', 'result'],
  hook_denied: [403, false, 'denied', 'PermissionError', 'result'],
  approval_denied: [403, false, 'denied', 'PermissionError', 'result'],
  approval_expired: [403, true, 'denied', 'PermissionError', 'result'],
  input_unavailable: [409, false, 'failed', 'InputRequiredError', 'missing capability'],
  input_declined: [409, false, 'denied', 'InputRequiredError', 'result'],
  input_expired: [504, true, 'timeout', 'InputRequiredError', 'result'],
  name_invalid: [422, false, 'usage', 'InternalError', 'invalid params'],
  name_taken: [409, false, 'usage', 'InternalError', 'invalid params'],
  schema_invalid: [422, false, 'failed', 'InternalError', 'invalid params'],
  conflict: [409, false, 'failed', 'InternalError', 'result'],
  idempotency_mismatch: [422, false, 'failed', 'InternalError', 'invalid params'],
  rate_limited: [429, true, 'failed', 'RateLimitError', 'result'],
  queue_full: [503, true, 'failed', 'InternalError', 'result'],
  queue_timeout: [503, true, 'timeout', 'TimeoutError', 'result'],
  overloaded: [503, true, 'failed', 'InternalError', 'with status'],
  provider_offline: [503, true, 'failed', 'InternalError', 'result'],
  provider_disconnected: [502, false, 'failed', 'InternalError', 'result'],
  timeout: [504, true, 'timeout', 'TimeoutError', 'result'],
  cancelled: [409, false, 'failed', 'InternalError', 'result'],
  interrupted: [500, false, 'failed', 'InternalError', 'result'],
  value_not_found: [404, false, 'not_found', 'ValueError', 'result'],
  tool_failed: [502, false, 'failed', 'InternalError', 'result'],
  resource_failed: [502, false, 'failed', 'InternalError', 'result'],
  output_invalid: [502, false, 'failed', 'OutputValidationError', 'result'],
  result_too_large: [502, false, 'failed', 'OutputValidationError', 'result'],
  result_invalid: [502, false, 'failed', 'OutputValidationError', 'result'],
  sandbox_unavailable: [503, false, 'failed', 'InternalError', 'result'],
  upstream_unreachable: [502, true, 'failed', 'InternalError', 'result'],
  storage_full: [507, true, 'failed', 'InternalError', 'with status'],
  storage_unavailable: [503, true, 'failed', 'InternalError', 'with status'],
  misdirected: [421, false, 'unreachable', 'InternalError', 'with status'],
  internal: [500, true, 'failed', 'InternalError', 'with status'],
} as const;

export type FailureCode = keyof typeof FAILURE_ROWS;

export const FAILURE_CODES: readonly FailureCode[] = Object.keys(FAILURE_ROWS) as FailureCode[];

/** Every code in the `error` of a call record or in a problem document, with all that follows from it. */
export const FAILURE_TABLE: Readonly<Record<FailureCode, FailureRow>> = Object.fromEntries(
  Object.entries<Row>(FAILURE_ROWS).map(([code, [status, retryable, kind, tenant, mcp]]) => [
    code,
    { status, retryable, kind, tenant, mcp },
  ]),
) as Record<FailureCode, FailureRow>;

export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(FAILURE_TABLE, value);
}

/** One column of the table. */
export function byFailureCode<Value>(of: (row: FailureRow) => Value): Readonly<Record<FailureCode, Value>> {
  const rows = FAILURE_CODES.map((code) => [code, of(FAILURE_TABLE[code])] as const);
  return Object.fromEntries(rows) as Record<FailureCode, Value>;
}
