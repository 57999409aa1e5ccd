import type { Exchange } from './exchange.ts';
import { toRpcError } from './messages/failures.ts';

/** Charges the principal's rate limit for a request that makes no call. Throws if the limit is exceeded. */
export function chargeRequest({ context, principal }: Pick<Exchange, 'context' | 'principal'>): void {
  const refused = context.engine.chargeRequest(principal);
  if (refused !== null) throw toRpcError(refused);
}
