import { reason } from '@patchboard/wire';
import type { FastifyRequest } from 'fastify';
import { denied, failure, type Failure } from '../../../core/failures.ts';
import type { Principal } from '../../../core/access/principal.ts';

export function isFailure(given: Principal | Failure): given is Failure {
  return 'code' in given;
}

/** Returns the authenticated principal. Throws on routes without a scope, which have none. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error(`${request.method} ${request.url} has no principal`);
  return request.principal;
}

/** Returns null if the principal may act for the client. */
export function foreignClient(principal: Principal, clientId: string): Failure | null {
  if (principal.clientId === null || principal.clientId === clientId) return null;
  return failure('permission_denied', denied(reason('credential_other_client', { client: clientId })));
}
