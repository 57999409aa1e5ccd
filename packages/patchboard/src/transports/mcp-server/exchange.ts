import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../core/access/principal.ts';
import type { HttpContext } from '../shared/http/context.ts';
import type { DeclaredClient } from './client.ts';
import type { McpSettings } from './mcp-settings.ts';
import type { Narrowing } from './calls/narrowing.ts';
import type { RpcResponse } from './messages/rpc-response.ts';
import type { Session } from './legacy/session.ts';

/** Modern: 2026-07-28, without sessions. Legacy: the protocol versions before it. */
export type Era = 'modern' | 'legacy';

/** One JSON-RPC request, with all that a method needs. */
export interface Exchange {
  readonly context: HttpContext;
  readonly settings: McpSettings;
  readonly principal: Principal;
  readonly headers: IncomingHttpHeaders;
  readonly era: Era;
  readonly client: DeclaredClient;
  /** The SDK's schema of the method has accepted them. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly response: RpcResponse;
  /** Of a legacy client; null if it sent no session id. */
  readonly session: Session | null;
  /** The tools that `?tools=` leaves. */
  readonly narrowing: Narrowing;
  /** Origin of the console's pages; null if this server has none. */
  readonly origin: string | null;
  /** How long `tools/call` waits: `?hold=`, or the setting. */
  readonly holdMs: number;
}

/** Returns the JSON text of the result; null if the method has sent its response. Throws `RpcError`. */
export type MethodHandler = (exchange: Exchange) => string | null | Promise<string | null>;
