import { reason, type InputKind, type OutcomeKnowledge } from '@patchboard/wire';
import { failure, messageOf, ToolFailure, type Failure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import { RPC_CODES } from '../../protocols/mcp/rpc-codes.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import { NotStarted, ResponseTooLarge, type McpResponse } from './mcp-connection.ts';

/** What messages about an upstream need. */
export interface FailureParts {
  /** The name of the upstream. */
  readonly upstream: string;
  readonly mask: Pick<SecretMask, 'text' | 'value'>;
  /** The upstream has taken an earlier request of this call: if a later one is not sent, the call has begun all the same. */
  readonly hasBegun?: boolean;
}

export type RpcErrorResponse = Extract<McpResponse, { readonly kind: 'error' }>;

const UNKNOWN = { outcome: 'unknown' } as const;
const NOT_STARTED = { outcome: 'not_started' } as const;

/** Converts what `McpConnection.request` rejected with. Anything but `NotStarted` means that the upstream may have begun. */
export function requestFailure(
  { upstream, mask, hasBegun = false }: FailureParts,
  thrown: unknown,
): ToolFailure {
  const error = mask.text(messageOf(thrown));
  if (thrown instanceof NotStarted) {
    const { status } = thrown;
    const outcome = hasBegun ? UNKNOWN : NOT_STARTED;
    return new ToolFailure(
      status === null
        ? failure('provider_offline', reason('upstream_not_reached', { upstream, error }), outcome)
        : failure('upstream_unreachable', reason('upstream_refused', { upstream, status, error }), outcome),
    );
  }
  if (thrown instanceof ResponseTooLarge)
    return new ToolFailure(
      failure('result_too_large', reason('upstream_response_too_large', { upstream, error }), UNKNOWN),
    );
  return connectionLost(upstream, error);
}

/** `error`: masked. */
export function connectionLost(upstream: string, error: string): ToolFailure {
  return new ToolFailure(
    failure('provider_disconnected', reason('upstream_connection_lost', { upstream, error }), UNKNOWN),
  );
}

/** The failure of a call whose upstream sent something that is no result of MCP. */
export function invalidResult({ upstream }: FailureParts): ToolFailure {
  return new ToolFailure(failure('result_invalid', reason('upstream_result_invalid', { upstream }), UNKNOWN));
}

/** `tool`: the name under which the caller knows it. */
export function rpcFailure(
  { upstream, mask }: FailureParts,
  { code, message, data }: RpcErrorResponse,
  tool: string,
): ToolFailure {
  if (code === RPC_CODES.missingCapability) {
    const kind = missingKind(data);
    const why = reason('input_caller_cannot', { tool, ...(kind === null ? {} : { kind }) });
    return new ToolFailure(failure('input_unavailable', why, reportedExtra(data)));
  }
  const why = reason('upstream_error', { upstream, code, error: mask.text(message) });
  return new ToolFailure(failure('tool_failed', why, reportedExtra(data)));
}

/** The kind of input that `requiredCapabilities` stands for; null if it names none. */
function missingKind(data: unknown): InputKind | null {
  const required = isRecord(data) ? data['requiredCapabilities'] : undefined;
  if (!isRecord(required)) return null;
  if (isRecord(required['elicitation'])) return 'url' in required['elicitation'] ? 'url' : 'form';
  return 'sampling' in required ? 'sampling' : 'roots' in required ? 'roots' : null;
}

/** What an upstream that is a Patchboard knows about the outcome. `data`: of its failure. */
export function reportedExtra(data: unknown): Pick<Failure, 'outcome'> {
  const outcome = isRecord(data) ? data['outcome'] : undefined;
  return isOutcome(outcome) ? { outcome } : {};
}

function isOutcome(outcome: unknown): outcome is OutcomeKnowledge {
  return outcome === 'unknown' || outcome === 'not_started';
}
