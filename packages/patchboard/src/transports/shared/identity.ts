import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Failure } from '../../core/failures.ts';
import type { Principal } from '../../core/principal.ts';

/** What an identity may be read from: never the body. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
}

/** Says who is asking, or why nobody may ask like this. Answers at once where it can. */
export interface Authenticator {
  authenticate(given: Credentials): Principal | Failure | Promise<Principal | Failure>;
}

export function isFailure(given: Principal | Failure): given is Failure {
  return 'code' in given;
}

/** Who asks; routes that are open to all have nobody, and do not look. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error(`${request.method} ${request.url} has no principal`);
  return request.principal;
}
