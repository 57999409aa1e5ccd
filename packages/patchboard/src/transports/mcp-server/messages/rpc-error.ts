import type { Failure } from '../../../core/failures.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';

/** The id of a JSON-RPC request. */
export type RpcId = string | number;

/** A JSON-RPC error response. */
export class RpcError extends Error {
  readonly code: number;
  /** HTTP status, if nothing was streamed before. */
  readonly status: number;
  readonly data: unknown;
  /** The failure it was made from; its headers (`Retry-After`) go with the response. */
  readonly failure: Failure | null;

  constructor(
    code: number,
    message: string,
    {
      data,
      status = 200,
      failure = null,
    }: { data?: unknown; status?: number; failure?: Failure | null } = {},
  ) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.status = status;
    this.data = data;
    this.failure = failure;
  }
}

export function invalidParams(message: string, data?: unknown): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message, { data });
}

/** The client has not declared a capability that the request needs. */
export function missingCapability(requiredCapabilities: Readonly<Record<string, unknown>>): RpcError {
  return new RpcError(
    RPC_CODES.missingCapability,
    `Missing required client capability: ${Object.keys(requiredCapabilities).join(', ')}`,
    { status: 400, data: { requiredCapabilities } },
  );
}

export function errorJson(id: RpcId | null, { code, message, data }: RpcError): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    error: { code, message, ...(data === undefined ? {} : { data }) },
  });
}
