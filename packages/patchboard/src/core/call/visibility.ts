import type { Call } from './call.ts';
import type { Principal } from '../access/principal.ts';

/** Whose calls a principal may see. What it may not see is answered like what does not exist. */
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
      return call.clientId !== null && call.clientId === principal.clientId;
  }
}

/** The one agent a list must be narrowed to; null: all of the tenant. */
export function onlyAgent(principal: Principal): string | null {
  return principal.kind === 'agent' || principal.kind === 'client' ? principal.agentId : null;
}
