import { PEER_ID_PATTERN } from '@patchboard/wire';
import type { Credentials } from '../core/access/authenticator.ts';
import { failure, type Failure } from '../core/failures.ts';
import { DEFAULT_TENANT, OPERATOR_NAME, type Principal } from '../core/access/principal.ts';
import { SCOPES_OF_KIND } from '../core/access/scopes.ts';

/** The principal of requests without identity headers. */
const LOCAL: Principal = {
  kind: 'local',
  id: 'local',
  tenant: DEFAULT_TENANT,
  scopes: new Set(SCOPES_OF_KIND.local),
  agentId: 'local',
  clientId: null,
  credential: null,
};

/** Returns the principal of a request in local mode, where headers name agent, client and tenant unchecked. */
export function localPrincipal(headers: Credentials['headers']): Principal | Failure {
  const names = {
    agent: headers['x-agent-id'],
    client: headers['x-client-id'],
    tenant: headers['x-tenant-id'],
  };
  if (names.agent === undefined && names.client === undefined && names.tenant === undefined) return LOCAL;
  for (const [what, value] of Object.entries(names)) {
    if (value === undefined || (typeof value === 'string' && PEER_ID_PATTERN.test(value))) continue;
    return failure('body_invalid', `X-${what}-ID must be 1 to 200 visible ASCII characters without spaces`);
  }
  if (names.agent === OPERATOR_NAME) {
    return failure(
      'permission_denied',
      `permission denied: the name ${OPERATOR_NAME} is reserved for the operator`,
    );
  }
  const { agent, client, tenant } = names as Record<'agent' | 'client' | 'tenant', string | undefined>;
  return {
    ...LOCAL,
    id: agent ?? client ?? LOCAL.id,
    tenant: tenant ?? LOCAL.tenant,
    agentId: agent ?? LOCAL.agentId,
    clientId: client ?? null,
  };
}
