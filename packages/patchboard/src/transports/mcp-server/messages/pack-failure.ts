import type { Failure } from '../../../core/failures.ts';
import type { Era } from '../exchange.ts';
import { failureData, toRpcError } from './failures.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { invalidParams, RpcError } from './rpc-error.ts';

/** A function of a pack failed, or its result is unusable: the request was well-formed, so HTTP reports no error. */
const OF_PACK: ReadonlySet<string> = new Set([
  'resource_failed',
  'result_too_large',
  'timeout',
  'cancelled',
  'tool_failed',
  'input_declined',
]);

/** A failure of a resource, a prompt or a completion as a JSON-RPC error. */
export function packFailure(failed: Failure, era: Era): RpcError {
  if (failed.code === 'input_invalid') return invalidParams(failed.message, failureData(failed));
  // Older versions have no error for a capability that is missing.
  const hasNoCode = era === 'legacy' && failed.code === 'input_unavailable';
  if (!OF_PACK.has(failed.code) && !hasNoCode) return toRpcError(failed);
  return new RpcError(RPC_CODES.internalError, failed.message, { data: failureData(failed) });
}

/** The error of `resources/read` and `resources/subscribe`: each era has its own code. */
export function resourceNotFound(era: Era, uri: string, failed: Failure): RpcError {
  const code = era === 'modern' ? RPC_CODES.invalidParams : RPC_CODES.resourceNotFound;
  return new RpcError(code, failed.message, { data: { ...failureData(failed), uri } });
}
