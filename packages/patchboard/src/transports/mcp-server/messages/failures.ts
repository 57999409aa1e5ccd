import { byFailureCode, type FailureCode, type McpFailureName } from '@patchboard/wire';
import { missingInputKind } from '../../../core/call/input-kinds.ts';
import type { Failure } from '../../../core/failures.ts';
import { HTTP_STATUS, problemJson, type RefusalFormat } from '../../shared/routes/problem.ts';
import { ANY, object, TEXT } from '../../shared/routes/schemas.ts';
import { CAPABILITY_OF } from '../../../protocols/mcp/input-requests.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { errorJson, RpcError } from './rpc-error.ts';

const KINDS: Readonly<Record<FailureCode, McpFailureName>> = byFailureCode(({ mcp }) => mcp);

export function isResult(failed: Failure): boolean {
  const kind = KINDS[failed.code];
  // A caller that could respond, and may not: there is no capability to declare.
  return kind === 'result' || (kind === 'missing capability' && missingInputKind(failed) === null);
}

/** Returns the failure as a JSON-RPC error, also where a call would get a result. */
export function toRpcError(failed: Failure, message: string = failed.message): RpcError {
  const data = failureData(failed);
  switch (KINDS[failed.code]) {
    case 'invalid params':
      return new RpcError(RPC_CODES.invalidParams, message, { data });
    case 'missing capability':
      return new RpcError(RPC_CODES.missingCapability, message, {
        data: { ...data, requiredCapabilities: requiredFor(failed) },
        status: 400,
      });
    case 'with status':
    case 'result':
      return new RpcError(RPC_CODES.internalError, message, {
        data,
        status: HTTP_STATUS[failed.code],
        failure: failed,
      });
  }
}

function requiredFor(failed: Failure): Readonly<Record<string, unknown>> {
  const kind = missingInputKind(failed);
  return kind === null ? {} : CAPABILITY_OF[kind];
}

/** What a program needs to know about a failure: the members of a problem, without HTTP's. */
export function failureData(failed: Failure): Readonly<Record<string, unknown>> {
  const { code, reasons, retryable, outcome, recommendations, note, issues, rate } = failed;
  return {
    code,
    ...(reasons === undefined ? {} : { reasons }),
    retryable,
    ...(outcome === undefined ? {} : { outcome }),
    ...(recommendations === undefined ? {} : { recommendations }),
    ...(note === undefined ? {} : { note }),
    ...(issues === undefined ? {} : { errors: issues }),
    ...(rate === undefined ? {} : { retry_after_ms: rate.retryAfterMs }),
  };
}

/** Reasons of a body that is no JSON. */
const NOT_JSON: ReadonlySet<string> = new Set([
  'body_bad_json',
  'body_of_no_json',
  'body_empty',
  'body_missing',
]);

/**
 * A refusal before a JSON-RPC message was read: an error with `id: null`, with the problem as its data. A client that gets
 * another body with a 400 takes the server for one of an older protocol version.
 */
export const MCP_REFUSAL: RefusalFormat = {
  contentType: 'application/json',
  schema: object({
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'number', 'null'] },
    error: object({ code: { type: 'integer' }, message: TEXT, data: ANY }, ['data']),
  }),
  write: (failed, context) =>
    errorJson(
      null,
      new RpcError(refusalCode(failed), failed.message, {
        data: JSON.parse(problemJson(failed, context)) as unknown,
      }),
    ),
};

function refusalCode({ code, reasons = [] }: Failure): number {
  if (code === 'internal' || code === 'overloaded') return RPC_CODES.internalError;
  return reasons.some((why) => NOT_JSON.has(why.code)) ? RPC_CODES.parseError : RPC_CODES.invalidRequest;
}
