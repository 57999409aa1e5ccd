import type { Call } from '../../core/call/call.ts';
import type { Exchange } from './exchange.ts';

/** The page of the console where an operator decides on the call; null if this server has no pages. Contains no token. */
export function approvalLink({ origin }: Pick<Exchange, 'origin'>, { id }: Pick<Call, 'id'>): string | null {
  return origin === null ? null : `${origin}/ui/approvals?id=${encodeURIComponent(id)}`;
}
