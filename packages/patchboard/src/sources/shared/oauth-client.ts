import type { Clock } from '../../core/ports.ts';
import { TokenUnavailable } from './fetch-errors.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import type { SecretMask } from './secret-mask.ts';
import { discoverTokenEndpoint, type OAuthFetch, type TokenEndpoint } from './token-endpoint.ts';
import { requestToken, tokenRequest, type AccessToken } from './token-request.ts';

export interface OAuthClientOptions {
  readonly settings: OAuthSettings;
  /** The URL of the upstream: the token is requested for it (RFC 8707), and its metadata names the token endpoint. Null: neither. */
  readonly resource: string | null;
  /** The token endpoint if the settings have none, such as that of an OpenAPI description. */
  readonly tokenUrl?: string | undefined;
  readonly fetch: OAuthFetch;
  readonly mask: SecretMask;
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>;
}

/** The time limit of discovery and token request together. */
const REQUEST_MS = 30_000;
/** A token is renewed this long before it expires, or after nine tenths of its lifetime. */
const MARGIN_MS = 60_000;
/** Responses may still contain an earlier token. */
const MASKED_TOKENS = 5;

/**
 * Obtains access tokens of grant type `client_credentials` and keeps them until shortly before they expire. All callers share one
 * request. The mask covers the tokens.
 */
export class OAuthClient {
  readonly #options: OAuthClientOptions;
  #endpoint: TokenEndpoint | null = null;
  #current: { readonly value: string; readonly renewAt: number } | null = null;
  #pending: Promise<string> | null = null;
  #masked: string[] = [];

  constructor(options: OAuthClientOptions) {
    this.#options = options;
  }

  /** Resolves to a valid access token. Rejects with `TokenUnavailable` or the reason of the signal, which ends only this wait. */
  async token(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const current = this.#current;
    if (current !== null && this.#options.clock.elapsed() < current.renewAt) return current.value;
    this.#pending ??= this.#renewed().finally(() => {
      this.#pending = null;
    });
    return await (signal === undefined ? this.#pending : orAborted(this.#pending, signal));
  }

  /** Forgets the token that the upstream refused (401), unless it was replaced meanwhile. Without an argument: any token. */
  forget(refused?: string): void {
    if (refused === undefined || this.#current?.value === refused) this.#current = null;
  }

  async #renewed(): Promise<string> {
    const { clock, mask } = this.#options;
    try {
      const { value, lifetimeMs } = await this.#requested();
      mask.add([value]);
      this.#masked.push(value);
      mask.remove(this.#masked.splice(0, this.#masked.length - MASKED_TOKENS));
      const keptMs = lifetimeMs === null ? Infinity : Math.max(lifetimeMs - MARGIN_MS, lifetimeMs * 0.9);
      this.#current = { value, renewAt: clock.elapsed() + keptMs };
      return value;
    } catch (error) {
      // The authorization server may have moved.
      this.#endpoint = null;
      throw error;
    }
  }

  async #requested(): Promise<AccessToken> {
    const { settings, fetch, mask, clock } = this.#options;
    const limit = new AbortController();
    const cancel = clock.after(REQUEST_MS, () => {
      limit.abort(new Error(`the authorization server did not respond within ${REQUEST_MS / 1000} s`));
    });
    const limited: OAuthFetch = (url, init) => fetch(url, { ...init, signal: limit.signal });
    try {
      const endpoint = (this.#endpoint ??= await this.#foundEndpoint(limited));
      const request = await tokenRequest(settings, endpoint, clock.now());
      mask.add(request.secrets);
      try {
        return await requestToken(endpoint, request, limited, mask);
      } finally {
        mask.remove(request.secrets);
      }
    } finally {
      cancel();
    }
  }

  async #foundEndpoint(fetch: OAuthFetch): Promise<TokenEndpoint> {
    const { settings, resource, tokenUrl } = this.#options;
    const url = settings.tokenUrl ?? tokenUrl;
    if (url !== undefined) return { url, audience: url, resource };
    if (resource !== null) return await discoverTokenEndpoint(resource, fetch);
    throw new TokenUnavailable(
      `the token endpoint of client ${settings.clientId} is not known: set token_url`,
      {
        mayRetry: false,
      },
    );
  }
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
