import { reason } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';
import type { Clock } from '../../core/ports.ts';
import { TokenUnavailable } from '../shared/fetch-errors.ts';
import { OAuthClient } from '../shared/oauth-client.ts';
import type { OAuthSettings } from '../shared/oauth-settings.ts';
import type { SecretMask } from '../shared/secret-mask.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import type { RenewableTokens } from './operation-caller.ts';
import type { SecurityRequirement } from './operation.ts';
import { configuredOrigins } from './server-url.ts';

export interface AccessTokensParts {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  readonly clock: Clock;
  readonly mask: SecretMask;
}

/** The access tokens of an upstream: one client for each scheme, token endpoint and scope. */
export class OpenApiTokens implements RenewableTokens {
  readonly #settings: OpenApiSettings;
  readonly #parts: AccessTokensParts;
  readonly #clients: Map<string, { readonly scheme: string; readonly client: OAuthClient }> = new Map();

  constructor(settings: OpenApiSettings, parts: AccessTokensParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async token(requirement: SecurityRequirement, signal: AbortSignal): Promise<string> {
    try {
      return await this.#clientFor(requirement).token(signal);
    } catch (error) {
      if (!(error instanceof TokenUnavailable)) throw error;
      const why = reason('openapi_token_failed', { scheme: requirement.name, error: error.message });
      const code = error.mayRetry ? 'upstream_unreachable' : 'tool_failed';
      throw new ToolFailure(failure(code, why, { outcome: 'not_started' }));
    }
  }

  forget(scheme: string, token: string): void {
    for (const each of this.#clients.values()) if (each.scheme === scheme) each.client.forget(token);
  }

  forgetAll(): void {
    this.#clients.clear();
  }

  #clientFor(requirement: SecurityRequirement): OAuthClient {
    const { name, scopes } = requirement;
    const settings = this.#oauthOf(name);
    const scope = settings.scope ?? (scopes.length === 0 ? null : scopes.join(' '));
    const tokenUrl = settings.tokenUrl ?? this.#describedUrl(requirement);
    const key = JSON.stringify([name, tokenUrl, scope]);
    const known = this.#clients.get(key);
    if (known !== undefined) return known.client;
    const client = new OAuthClient({
      settings: { ...settings, scope },
      resource: null,
      tokenUrl,
      ...this.#parts,
    });
    this.#clients.set(key, { scheme: name, client });
    return client;
  }

  #oauthOf(name: string): OAuthSettings {
    const given = this.#settings.security[name];
    if (given?.kind !== 'oauth') throw new Error(`security scheme ${name} has no OAuth settings`);
    return given.oauth;
  }

  /** The client secret is sent to this URL: one that the description chose must be encrypted. */
  #describedUrl({ scheme }: SecurityRequirement): string | undefined {
    if (scheme.type !== 'oauth2' || scheme.tokenUrl === undefined) return undefined;
    const { description } = this.#settings;
    const base = description.kind === 'url' ? description.url : undefined;
    if (!URL.canParse(scheme.tokenUrl, base)) return undefined;
    const { protocol, origin, href } = new URL(scheme.tokenUrl, base);
    if (protocol === 'https:' || configuredOrigins(this.#settings).includes(origin)) return href;
    throw new TokenUnavailable(
      `the token endpoint ${origin} of the description does not use https: set token_url`,
      {
        mayRetry: false,
      },
    );
  }
}
