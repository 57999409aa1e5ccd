import { NetworkError, PatchboardError, TimeoutError, ToolCallFailed } from '@patchboard/client';
import type { CallView, FailureCode } from '@patchboard/wire';

/** The exit codes. They are documented, so the meaning of a number never changes. */
export const EXIT = {
  ok: 0,
  toolFailed: 1,
  usage: 2,
  denied: 3,
  timeout: 4,
  notFound: 5,
  unreachable: 6,
  /** Ctrl-C, by the convention of shells. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The texts for the help and the docs. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'ok',
  1: 'tool failed',
  2: 'usage',
  3: 'denied',
  4: 'timeout',
  5: 'not found',
  6: 'unreachable',
  130: 'interrupted',
};

/** Thrown for an invalid command line. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The exit code of each failure code. The type requires a row for every code of the server. */
const BY_CODE: Readonly<Record<FailureCode | 'data_folder_in_use', ExitCode>> = {
  tool_not_found: EXIT.notFound,
  method_not_found: EXIT.notFound,
  method_not_callable: EXIT.denied,
  call_not_found: EXIT.notFound,
  run_not_found: EXIT.notFound,
  key_not_found: EXIT.notFound,
  grant_not_found: EXIT.notFound,
  route_not_found: EXIT.notFound,
  value_not_found: EXIT.notFound,
  input_invalid: EXIT.usage,
  body_invalid: EXIT.usage,
  too_large: EXIT.usage,
  name_invalid: EXIT.usage,
  name_taken: EXIT.usage,
  auth_required: EXIT.denied,
  permission_denied: EXIT.denied,
  hook_denied: EXIT.denied,
  approval_denied: EXIT.denied,
  approval_expired: EXIT.denied,
  timeout: EXIT.timeout,
  queue_timeout: EXIT.timeout,
  misdirected: EXIT.unreachable,
  data_folder_in_use: EXIT.unreachable,
  method_not_allowed: EXIT.toolFailed,
  content_type: EXIT.toolFailed,
  schema_invalid: EXIT.toolFailed,
  conflict: EXIT.toolFailed,
  idempotency_mismatch: EXIT.toolFailed,
  rate_limited: EXIT.toolFailed,
  queue_full: EXIT.toolFailed,
  overloaded: EXIT.toolFailed,
  provider_offline: EXIT.toolFailed,
  provider_disconnected: EXIT.toolFailed,
  cancelled: EXIT.toolFailed,
  interrupted: EXIT.toolFailed,
  tool_failed: EXIT.toolFailed,
  output_invalid: EXIT.toolFailed,
  result_too_large: EXIT.toolFailed,
  result_invalid: EXIT.toolFailed,
  sandbox_unavailable: EXIT.toolFailed,
  upstream_unreachable: EXIT.toolFailed,
  storage_full: EXIT.toolFailed,
  storage_unavailable: EXIT.toolFailed,
  internal: EXIT.toolFailed,
};

export function exitCodeOfCall(call: CallView): ExitCode {
  if (call.status === 'SUCCEEDED') return EXIT.ok;
  if (call.status === 'TIMEOUT') return EXIT.timeout;
  if (call.state === 'DENIED') return EXIT.denied;
  // The call was accepted and recorded, so only its end state counts here.
  return call.error?.code === 'queue_timeout' ? EXIT.timeout : EXIT.toolFailed;
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof ToolCallFailed) return exitCodeOfCall(error.call);
  if (error instanceof NetworkError) return EXIT.unreachable;
  // A timeout caused by failed connections means that the server is unreachable.
  if (error instanceof TimeoutError) {
    return error.cause instanceof NetworkError ? EXIT.unreachable : EXIT.timeout;
  }
  if (!(error instanceof PatchboardError)) return EXIT.toolFailed;
  // The response does not come from a Patchboard server.
  if (error.kind === 'bad_response') return EXIT.unreachable;
  return Object.hasOwn(BY_CODE, error.code) ? BY_CODE[error.code as keyof typeof BY_CODE] : EXIT.toolFailed;
}
