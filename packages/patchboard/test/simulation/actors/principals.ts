import type { Principal } from '../../../src/core/access/principal.ts';
import { SCOPES_OF_KIND } from '../../../src/core/access/scopes.ts';

export function agentPrincipal(id: string): Principal {
  return principal('agent', id);
}

export function operatorPrincipal(id: string): Principal {
  return principal('operator', id);
}

/** The principal of a client, which runs calls of its tools. */
export function clientPrincipal(id: string): Principal {
  return { ...principal('client', id), clientId: id };
}

function principal(kind: 'agent' | 'operator' | 'client', id: string): Principal {
  return {
    kind,
    id,
    tenant: 'default',
    scopes: new Set(SCOPES_OF_KIND[kind]),
    agentId: id,
    clientId: null,
    credential: null,
  };
}
