import type { CallOrigin } from '../../core/call/call-origin.ts';
import type { Schema } from '../shared/routes/routes.ts';
import { COUNT, FLAG, listOf, object, REASONS, TEXT } from '../shared/routes/schemas.ts';
import { ERROR_TYPES, type ErrorType } from './error-types.ts';
import type { Warning } from './undeclared-members.ts';

/** Part of every response to a call: identifies it in ledger and log. */
export interface Audit {
  readonly trace_id: string;
  readonly tool_name: string;
  readonly status: 'success' | 'error';
  readonly latency_ms: number;
  readonly error_type?: ErrorType;
  readonly error_message?: string;
  /**
   * The first characters of the SHA-256 of the input as it was sent. The ledger's `args_sha256` is of the arguments that
   * run, and differs if a hook or an operator changed them.
   */
  readonly request_payload_hash: string;
  readonly tool_call_id?: string;
  readonly context_trace_id?: string;
  readonly warnings?: readonly Warning[];
}

const HASH_CHARACTERS = 8;

export const AUDIT: Schema = object(
  {
    trace_id: TEXT,
    tool_name: TEXT,
    status: { enum: ['success', 'error'] },
    latency_ms: COUNT,
    error_type: { enum: Object.keys(ERROR_TYPES) },
    error_message: TEXT,
    request_payload_hash: {
      ...TEXT,
      description: 'the first eight characters of the SHA-256 of the input as it was sent',
    },
    tool_call_id: { ...TEXT, description: 'absent if no call was recorded' },
    context_trace_id: { ...TEXT, description: 'the trace id in the body, if it differs' },
    warnings: {
      ...listOf(object({ code: { const: 'undeclared_member' }, path: TEXT, message: TEXT })),
      description: 'members of the input that were ignored',
    },
  },
  ['error_type', 'error_message', 'tool_call_id', 'context_trace_id', 'warnings'],
);

export const CALL_RESPONSE: Schema = object(
  {
    success: FLAG,
    output: {},
    cached: { const: true, description: 'the output comes from the cache' },
    cache_age_ms: { ...COUNT, description: 'age of the cached output' },
    error: TEXT,
    reasons: REASONS,
    error_type: { enum: Object.keys(ERROR_TYPES) },
    audit: AUDIT,
  },
  ['output', 'cached', 'cache_age_ms', 'error', 'reasons', 'error_type'],
);

/** The part of the audit that is known when the request arrives. */
export interface AuditedRequest {
  readonly traceId: string;
  readonly toolName: string;
  readonly inputHash: string;
  readonly origin: CallOrigin;
}

/** The part of the audit that is known when the request ends. */
export interface AuditedEnd {
  readonly latencyMs: number;
  readonly toolCallId: string | null;
  readonly error: { readonly type: ErrorType; readonly message: string } | null;
  readonly warnings?: readonly Warning[];
}

export function auditOf(
  request: AuditedRequest,
  { latencyMs, toolCallId, error, warnings = [] }: AuditedEnd,
): Audit {
  const { contextTraceId } = request.origin;
  return {
    trace_id: request.traceId,
    tool_name: request.toolName,
    status: error === null ? 'success' : 'error',
    latency_ms: latencyMs,
    ...(error === null ? {} : { error_type: error.type, error_message: error.message }),
    request_payload_hash: request.inputHash.slice(0, HASH_CHARACTERS),
    ...(toolCallId === null ? {} : { tool_call_id: toolCallId }),
    ...(contextTraceId === undefined ? {} : { context_trace_id: contextTraceId }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}
