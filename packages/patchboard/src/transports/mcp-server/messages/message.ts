import {
  classifyInboundRequest,
  CLIENT_CAPABILITIES_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '@patchboard/wire/json';
import { MODERN_VERSION } from '../../../protocols/mcp/revisions.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { RpcError, type RpcId } from './rpc-error.ts';

/** A JSON-RPC request that names a method. */
export interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** The body of `POST /mcp`, sorted by protocol era. */
export type Inbound =
  | { readonly kind: 'modern'; readonly request: RpcRequest }
  | { readonly kind: 'modern notification' }
  | { readonly kind: 'legacy'; readonly body: unknown }
  | { readonly kind: 'rejected'; readonly id: RpcId | null; readonly error: RpcError };

/**
 * Decides which protocol era a message belongs to. A well-formed modern request is recognised by comparisons alone; the
 * SDK classifies every other message (a hundred times slower).
 */
export function classify(body: unknown, headers: IncomingHttpHeaders): Inbound {
  if (hasLongId(body)) return { kind: 'rejected', id: null, error: LONG_ID };
  if (isModernRequest(body, headers)) return { kind: 'modern', request: requestOf(body) };
  const found = classifyInboundRequest({
    httpMethod: 'POST',
    ...headerMember('protocolVersionHeader', headers['mcp-protocol-version']),
    ...headerMember('mcpMethodHeader', headers['mcp-method']),
    ...headerMember('mcpNameHeader', headers['mcp-name']),
    body,
  });
  switch (found.kind) {
    case 'legacy':
      return { kind: 'legacy', body };
    case 'reject':
      return {
        kind: 'rejected',
        id: idOf(body),
        error: new RpcError(found.code, found.message, { status: found.httpStatus, data: found.data }),
      };
    case 'modern':
      if (found.messageKind === 'notification') return { kind: 'modern notification' };
      if (found.classification.revision !== MODERN_VERSION)
        return { kind: 'rejected', id: idOf(body), error: unsupported(found.classification.revision) };
      return { kind: 'modern', request: requestOf(body as ModernBody) };
  }
}

interface ModernBody {
  readonly id: RpcId;
  readonly method: string;
  readonly params: { readonly _meta: Readonly<Record<string, unknown>> };
}

function isModernRequest(body: unknown, headers: IncomingHttpHeaders): body is ModernBody {
  // The members checked here, and no other.
  if (!isRecord(body) || Object.keys(body).length !== 4) return false;
  if (body['jsonrpc'] !== '2.0' || typeof body['method'] !== 'string') return false;
  if (!isId(body['id']) || headers['mcp-method'] !== body['method']) return false;
  const params = body['params'];
  const meta = isRecord(params) ? params['_meta'] : undefined;
  return (
    isRecord(meta) &&
    meta[PROTOCOL_VERSION_META_KEY] === MODERN_VERSION &&
    headers['mcp-protocol-version'] === MODERN_VERSION &&
    isRecord(meta[CLIENT_CAPABILITIES_META_KEY])
  );
}

function requestOf({ id, method, params }: ModernBody): RpcRequest {
  return { id, method, params, meta: params._meta };
}

/** The server repeats ids and progress tokens, in a subscription with every notification. */
export const MAX_ID_CHARACTERS = 1000;

const LONG_ID = new RpcError(
  RPC_CODES.invalidRequest,
  `Invalid Request: the id has more than ${MAX_ID_CHARACTERS} characters`,
  { status: 400 },
);

export function hasLongId(message: unknown): boolean {
  const id = isRecord(message) ? message['id'] : undefined;
  return typeof id === 'string' && id.length > MAX_ID_CHARACTERS;
}

export function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || Number.isSafeInteger(id);
}

/** The id of a message that may be malformed; null if it has none. */
export function idOf(body: unknown): RpcId | null {
  return isRecord(body) && isId(body['id']) ? body['id'] : null;
}

function headerMember<Name extends string>(
  name: Name,
  value: string | string[] | undefined,
): Partial<Record<Name, string>> {
  return (typeof value === 'string' ? { [name]: value } : {}) as Partial<Record<Name, string>>;
}

function unsupported(requested: unknown): RpcError {
  return new RpcError(RPC_CODES.unsupportedVersion, 'Unsupported protocol version', {
    status: 400,
    data: { supported: [MODERN_VERSION], requested },
  });
}
