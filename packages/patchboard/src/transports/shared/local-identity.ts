import type { IncomingHttpHeaders } from 'node:http';
import { PEER_ID_PATTERN } from '@patchboard/wire';
import { failure, type Failure } from '../../core/failures.ts';
import { DEFAULT_TENANT, type Principal } from '../../core/principal.ts';
import { SCOPES_OF_KIND } from '../../core/scopes.ts';
import type { Authenticator, Credentials } from './identity.ts';

/** Most requests name nobody; they share one principal. */
const LOCAL: Principal = {
  kind: 'local',
  id: 'local',
  tenant: DEFAULT_TENANT,
  scopes: new Set(SCOPES_OF_KIND.local),
  agentId: 'local',
  clientId: null,
  credential: null,
};

/** Local mode: on loopback and with no credential configured, headers name what they say. */
export function localIdentity(): Authenticator {
  return { authenticate };
}

function authenticate({ headers }: Credentials): Principal | Failure {
  const proxy = proxyHeader(headers);
  if (proxy !== null) {
    return failure('auth_required', `a credential is needed: ${proxy} says that the request was forwarded`);
  }
  if (headers.authorization !== undefined) {
    return failure(
      'auth_required',
      'the credential is not known here; local mode takes requests without one',
    );
  }
  const agent = headers['x-agent-id'];
  const client = headers['x-client-id'];
  const tenant = headers['x-tenant-id'];
  if (agent === undefined && client === undefined && tenant === undefined) return LOCAL;
  return named({ 'X-Agent-ID': agent, 'X-Client-ID': client, 'X-Tenant-ID': tenant });
}

type Names = Record<'X-Agent-ID' | 'X-Client-ID' | 'X-Tenant-ID', string | string[] | undefined>;

function named(names: Names): Principal | Failure {
  for (const [header, value] of Object.entries(names)) {
    if (value === undefined || (typeof value === 'string' && PEER_ID_PATTERN.test(value))) continue;
    return failure('body_invalid', `${header} must be 1 to 200 visible ASCII characters without spaces`);
  }
  const agentId = textOf(names['X-Agent-ID']);
  const clientId = textOf(names['X-Client-ID']);
  return {
    ...LOCAL,
    id: agentId ?? clientId ?? LOCAL.id,
    tenant: textOf(names['X-Tenant-ID']) ?? LOCAL.tenant,
    agentId: agentId ?? LOCAL.agentId,
    clientId,
  };
}

function textOf(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** A proxy in front means that "from loopback" says nothing about who asks. */
function proxyHeader(headers: IncomingHttpHeaders): string | null {
  for (const name in headers) {
    if (name.startsWith('x-forwarded-') || name === 'forwarded') return name;
  }
  return null;
}
