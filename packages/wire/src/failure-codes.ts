/** Every code that a record's `error` or a problem document may carry. Their meaning is in the engine's failure table. */
export const FAILURE_CODES = [
  'tool_not_found',
  'method_not_found',
  'method_not_callable',
  'call_not_found',
  'run_not_found',
  'key_not_found',
  'grant_not_found',
  'route_not_found',
  'input_invalid',
  'body_invalid',
  'content_type',
  'too_large',
  'auth_required',
  'permission_denied',
  'hook_denied',
  'approval_denied',
  'approval_expired',
  'name_invalid',
  'name_taken',
  'schema_invalid',
  'conflict',
  'idempotency_mismatch',
  'rate_limited',
  'queue_full',
  'queue_timeout',
  'overloaded',
  'provider_offline',
  'provider_disconnected',
  'timeout',
  'cancelled',
  'interrupted',
  'value_not_found',
  'tool_failed',
  'output_invalid',
  'result_too_large',
  'sandbox_unavailable',
  'upstream_unreachable',
  'storage_full',
  'misdirected',
  'internal',
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];

export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && (FAILURE_CODES as readonly string[]).includes(value);
}
