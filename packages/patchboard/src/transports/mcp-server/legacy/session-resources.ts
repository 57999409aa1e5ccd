import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { resourceNotFound } from '../messages/pack-failure.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { invalidParams, RpcError } from '../messages/rpc-error.ts';
import type { Session } from './session.ts';

/** `resources/subscribe` of the versions before 2026-07-28: updates are sent on the session's stream of `GET /mcp`. */
export function subscribe(exchange: Exchange): string {
  chargeRequest(exchange);
  const { context, principal, era, params } = exchange;
  const session = sessionOf(exchange);
  const uri = params['uri'] as string;
  const unknown = context.engine.resources.unknown(principal, uri);
  if (unknown !== null) throw resourceNotFound(era, uri, unknown);
  if (!session.subscribe(uri))
    throw invalidParams('the session has too many subscriptions: unsubscribe from some resources first');
  return '{}';
}

/** Returns the same for a resource that was not subscribed to. */
export function unsubscribe(exchange: Exchange): string {
  sessionOf(exchange).unsubscribe(exchange.params['uri'] as string);
  return '{}';
}

function sessionOf({ session }: Exchange): Session {
  if (session !== null) return session;
  throw new RpcError(
    RPC_CODES.invalidRequest,
    'subscriptions need a session: send the Mcp-Session-Id that initialize returned',
  );
}
