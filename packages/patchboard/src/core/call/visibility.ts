import type { Call } from './call.ts';
import type { Principal } from '../access/principal.ts';
import type { CallFilter } from '../ports.ts';

/** Whether a principal may see a call. A call that it may not see is reported as not found. */
export function maySeeCall(
  principal: Principal,
  call: Pick<Call, 'tenant' | 'agentId' | 'clientId'>,
): boolean {
  if (call.tenant !== principal.tenant) return false;
  switch (principal.kind) {
    case 'local':
    case 'operator':
    case 'service':
      return true;
    case 'agent':
      return call.agentId === principal.agentId;
    case 'client':
      return call.agentId === principal.agentId || runs(principal, call);
  }
}

/** Whether a principal that may see a call may cancel it. A client that only runs it submits a result instead. */
export function mayCancelCall(principal: Principal, { agentId }: Pick<Call, 'agentId'>): boolean {
  return principal.kind !== 'client' || agentId === principal.agentId;
}

function runs({ clientId }: Principal, call: Pick<Call, 'clientId'>): boolean {
  return clientId !== null && call.clientId === clientId;
}

/** The same rule as a filter for lists, in addition to the tenant. */
export function narrowedTo({
  kind,
  agentId,
  clientId,
}: Principal): Pick<CallFilter, 'agentId' | 'askedOrRunBy'> {
  switch (kind) {
    case 'local':
    case 'operator':
    case 'service':
      return {};
    case 'agent':
      return { agentId };
    case 'client':
      return { askedOrRunBy: { agentId, clientId } };
  }
}

/** The only agent whose runs the principal may see; null if it may see all of the tenant. */
export function onlyAgent(principal: Principal): string | null {
  return principal.kind === 'agent' || principal.kind === 'client' ? principal.agentId : null;
}
