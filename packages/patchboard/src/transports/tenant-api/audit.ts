import type { CallOrigin } from '../../core/call/call-origin.ts';
import type { Schema } from '../shared/routes/routes.ts';
import { COUNT, FLAG, listOf, object, REASONS, TEXT } from '../shared/routes/schemas.ts';
import { ERROR_TYPES, type ErrorType } from './error-types.ts';
import type { Warning } from './undeclared-members.ts';

/** What stands in every answer to a call: enough to find it again in ledger and log. */
export interface Audit {
  readonly trace_id: string;
  readonly tool_name: string;
  readonly status: 'success' | 'error';
  readonly latency_ms: number;
  readonly error_type?: ErrorType;
  readonly error_message?: string;
  /**
   * The first characters of the SHA-256 of the input as it came, so that the caller can tell it is theirs. The ledger has
   * that of the arguments that run as `args_sha256`: another where a hook or an operator changed them.
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
      description: 'the first eight characters of the SHA-256 of the input as it came',
    },
    tool_call_id: { ...TEXT, description: 'absent where no call was recorded' },
    context_trace_id: { ...TEXT, description: 'the trace id in the body, where it is another' },
    warnings: {
      ...listOf(object({ code: { const: 'undeclared_member' }, path: TEXT, message: TEXT })),
      description: 'members of the input that were ignored',
    },
  },
  ['error_type', 'error_message', 'tool_call_id', 'context_trace_id', 'warnings'],
);

export const CALL_ANSWER: Schema = object(
  {
    success: FLAG,
    output: {},
    cached: { const: true, description: 'the output is an earlier one, given again' },
    cache_age_ms: { ...COUNT, description: 'how old it is' },
    error: TEXT,
    reasons: REASONS,
    error_type: { enum: Object.keys(ERROR_TYPES) },
    audit: AUDIT,
  },
  ['output', 'cached', 'cache_age_ms', 'error', 'reasons', 'error_type'],
);

/** What is known of a request before it is known how it ends. */
export interface Asked {
  readonly traceId: string;
  readonly toolName: string;
  readonly inputHash: string;
  readonly origin: CallOrigin;
}

export interface Ending {
  readonly latencyMs: number;
  readonly toolCallId: string | null;
  readonly error: { readonly type: ErrorType; readonly message: string } | null;
  readonly warnings?: readonly Warning[];
}

export function auditOf(asked: Asked, { latencyMs, toolCallId, error, warnings = [] }: Ending): Audit {
  const { contextTraceId } = asked.origin;
  return {
    trace_id: asked.traceId,
    tool_name: asked.toolName,
    status: error === null ? 'success' : 'error',
    latency_ms: latencyMs,
    ...(error === null ? {} : { error_type: error.type, error_message: error.message }),
    request_payload_hash: asked.inputHash.slice(0, HASH_CHARACTERS),
    ...(toolCallId === null ? {} : { tool_call_id: toolCallId }),
    ...(contextTraceId === undefined ? {} : { context_trace_id: contextTraceId }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}
