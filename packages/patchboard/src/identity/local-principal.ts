import { LOCAL_AGENT, PEER_ID_PATTERN, reason } from '@patchboard/wire';
import type { Credentials } from '../core/access/authenticator.ts';
import { denied, failure, type Failure } from '../core/failures.ts';
import { DEFAULT_TENANT, OPERATOR_NAME, type Principal } from '../core/access/principal.ts';
import { SCOPES_OF_KIND } from '../core/access/scopes.ts';

/** The principal of requests without identity headers. */
const LOCAL: Principal = {
  kind: 'local',
  id: LOCAL_AGENT,
  tenant: DEFAULT_TENANT,
  scopes: new Set(SCOPES_OF_KIND.local),
  agentId: LOCAL_AGENT,
  clientId: null,
  credential: null,
};

/** The failure for a header whose value is no id of a tenant, an agent or a client. */
export function headerNotId(header: string): Failure {
  const problem = [reason('must_be_peer_id')];
  return failure('body_invalid', reason('request_issue', { place: header, problem }));
}

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
    return headerNotId(`X-${what}-ID`);
  }
  if (names.agent === OPERATOR_NAME) {
    return failure('permission_denied', denied(reason('name_of_operator', { name: OPERATOR_NAME })));
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
