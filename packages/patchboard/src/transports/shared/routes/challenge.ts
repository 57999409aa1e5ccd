import type { FastifyRequest } from 'fastify';
import type { Route } from './routes.ts';

/** Error codes of RFC 6750. */
export type ChallengeError = 'invalid_token' | 'insufficient_scope';

/** Returns the `WWW-Authenticate` header of a refusal; `error` is null if the request has no token. */
export type Challenge = (request: FastifyRequest, error: ChallengeError | null) => string;

/** The settings that the metadata of protected resources depends on. */
export interface ResourceSettings {
  /** Issuer of the JWTs that the server accepts; null if it accepts none. */
  readonly jwtIssuer: string | null;
  /** Path prefix of a mounted server, which is stripped before routing; empty for a server of its own. */
  readonly pathPrefix: string;
}

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

const REALM = 'realm="patchboard"';

/** The challenge of every route that is no protected resource. */
export function bearerChallenge(_request: FastifyRequest, error: ChallengeError | null): string {
  return error === null ? `Bearer ${REALM}` : `Bearer ${REALM}, error="${error}"`;
}

/**
 * Returns the challenge of a route that belongs to an OAuth protected resource: it names the scope and, if there is an
 * issuer, the metadata document (RFC 9728, section 5.1). Returns null for other routes.
 */
export function challengeOf(route: Route, settings: ResourceSettings): Challenge | null {
  const { protectedResource, scope } = route;
  if (protectedResource === undefined || scope === null || scope === 'any') return null;
  return (request, error) => {
    const parts = error === 'insufficient_scope' ? [] : [REALM];
    if (error !== null) parts.push(`error="${error}"`);
    parts.push(`scope="${scope}"`);
    if (settings.jwtIssuer !== null) {
      const metadata = `${baseUrlOf(request, settings)}${METADATA_PATH}${protectedResource}`;
      parts.push(`resource_metadata="${metadata}"`);
    }
    return `Bearer ${parts.join(', ')}`;
  };
}

/**
 * Returns the URL of the server as the client of this request sees it, without a slash at the end. The host is the `Host`
 * header, which the host and origin guard has checked; `X-Forwarded-Host` is never read. The scheme is that of the
 * connection or, from a trusted proxy, `X-Forwarded-Proto`.
 */
export function baseUrlOf(
  { headers, protocol }: FastifyRequest,
  { pathPrefix }: Pick<ResourceSettings, 'pathPrefix'>,
): string {
  const scheme = protocol === 'https' ? 'https' : 'http';
  const host = (headers.host ?? '')
    .toLowerCase()
    .replace(scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/, '');
  return `${scheme}://${host}${pathPrefix}`;
}
