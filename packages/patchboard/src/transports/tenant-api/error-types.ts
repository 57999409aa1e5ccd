import type { FailureCode } from '@patchboard/wire';

/** The kinds of error that this API knows, by the names its callers test for. None is ever given a new meaning. */
export const ERROR_TYPES = {
  ValueError: 'a value in the input names nothing that there is',
  ValidationError: "the input does not fit the tool's schema",
  OutputValidationError:
    'what the tool produced cannot be read, does not fit its output schema, or is too large; it is not passed on',
  ToolNotFoundError: 'the tenant has no tool of that name',
  PermissionError: 'policy, a hook, an operator or the tool itself does not allow the call',
  ApprovalRequiredError: 'the call is recorded and waits for an operator',
  RateLimitError: 'too many calls; with HTTP 429',
  TimeoutError: 'no result, or no free slot, in time',
  InternalError: 'anything else that went wrong',
} as const;

export type ErrorType = keyof typeof ERROR_TYPES;

/** Each code in the words of this API; a code without a row does not compile. */
export const ERROR_TYPE: Readonly<Record<FailureCode, ErrorType>> = {
  value_not_found: 'ValueError',
  input_invalid: 'ValidationError',
  body_invalid: 'ValidationError',
  output_invalid: 'OutputValidationError',
  result_too_large: 'OutputValidationError',
  result_invalid: 'OutputValidationError',
  tool_not_found: 'ToolNotFoundError',
  method_not_found: 'ToolNotFoundError',
  method_not_callable: 'PermissionError',
  permission_denied: 'PermissionError',
  hook_denied: 'PermissionError',
  approval_denied: 'PermissionError',
  approval_expired: 'PermissionError',
  auth_required: 'PermissionError',
  rate_limited: 'RateLimitError',
  timeout: 'TimeoutError',
  queue_timeout: 'TimeoutError',
  call_not_found: 'InternalError',
  run_not_found: 'InternalError',
  key_not_found: 'InternalError',
  grant_not_found: 'InternalError',
  route_not_found: 'InternalError',
  method_not_allowed: 'InternalError',
  content_type: 'InternalError',
  too_large: 'InternalError',
  name_invalid: 'InternalError',
  name_taken: 'InternalError',
  schema_invalid: 'InternalError',
  conflict: 'InternalError',
  idempotency_mismatch: 'InternalError',
  queue_full: 'InternalError',
  overloaded: 'InternalError',
  provider_offline: 'InternalError',
  provider_disconnected: 'InternalError',
  cancelled: 'InternalError',
  interrupted: 'InternalError',
  tool_failed: 'InternalError',
  sandbox_unavailable: 'InternalError',
  upstream_unreachable: 'InternalError',
  storage_full: 'InternalError',
  storage_unavailable: 'InternalError',
  misdirected: 'InternalError',
  internal: 'InternalError',
};
