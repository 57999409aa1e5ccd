import { messageOf } from '../../core/failures.ts';
import { AddressNotAllowed, TokenUnavailable } from './fetch-errors.ts';

/** The function that sends the requests of OAuth: metadata and tokens. */
export type OAuthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface TokenEndpoint {
  readonly url: string;
  /** The audience of a client assertion: the issuer if it is known, else the URL. */
  readonly audience: string;
  /** The resource that the token is requested for (RFC 8707); null: the request names none. */
  readonly resource: string | null;
}

/**
 * Finds the token endpoint for a resource: protected resource metadata (RFC 9728), then the metadata of its authorization server
 * (RFC 8414, OpenID Connect Discovery). Throws `TokenUnavailable`.
 */
export async function discoverTokenEndpoint(resource: string, fetch: OAuthFetch): Promise<TokenEndpoint> {
  // The SDK takes longer to load than the rest of a start.
  const { checkResourceAllowed, discoverOAuthServerInfo } = await import('@modelcontextprotocol/client');
  const found = await discoverOAuthServerInfo(resource, { fetchFn: fetch }).catch((error: unknown) => {
    throw unavailable(`the authorization server of ${resource} was not found: ${messageOf(error)}`, error);
  });
  const { authorizationServerMetadata: metadata, authorizationServerUrl, resourceMetadata } = found;
  if (metadata === undefined)
    throw unavailable(`${authorizationServerUrl} has no authorization server metadata: set token_url`);
  const { issuer, token_endpoint: url } = metadata;
  // The upstream chose this URL. A secret must not leave in plain text because of it.
  if (new URL(url).protocol !== 'https:' && new URL(url).origin !== new URL(resource).origin)
    throw unavailable(`the token endpoint ${url} that ${resource} names does not use https: set token_url`);
  const named = resourceMetadata?.resource ?? resource;
  // RFC 9728, section 3.3: metadata of another resource must not be used.
  if (!checkResourceAllowed({ requestedResource: resource, configuredResource: named }))
    throw unavailable(`the metadata of ${resource} is that of another resource, ${named}`);
  return { url, audience: issuer, resource: named };
}

function unavailable(message: string, cause?: unknown): TokenUnavailable {
  return new TokenUnavailable(message, { mayRetry: !(cause instanceof AddressNotAllowed) });
}
