import type { Principal } from '../../../src/core/access/principal.ts';
import { SCOPES_OF_KIND } from '../../../src/core/access/scopes.ts';

export function agentPrincipal(id: string): Principal {
  return principal('agent', id);
}

export function operatorPrincipal(id: string): Principal {
  return principal('operator', id);
}

function principal(kind: 'agent' | 'operator', id: string): Principal {
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
