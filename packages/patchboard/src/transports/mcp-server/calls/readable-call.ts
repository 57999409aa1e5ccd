import type { Call } from '../../../core/call/call.ts';
import type { Exchange } from '../exchange.ts';

/**
 * Finds a call that the principal may read: its own, and with the scope `calls:read` every one that it sees. The scope of the
 * endpoint, `tools:call`, is for the principal's own calls. Undefined for every other call, as for an unknown one.
 */
export async function readableCall(
  { context, principal }: Pick<Exchange, 'context' | 'principal'>,
  id: string,
): Promise<Call | undefined> {
  const call = await context.engine.calls.find(principal, id);
  const isReadable = call?.agentId === principal.agentId || principal.scopes.has('calls:read');
  return isReadable ? call : undefined;
}
