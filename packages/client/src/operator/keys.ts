import type { KeyKindName, KeyView, MintedKeyView } from '@patchboard/wire';
import { decodeKey, decodeMintedKey } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface NewKey extends RequestOptions {
  readonly kind: KeyKindName;
  /** Name of the agent, client, service or operator that authenticates with the key. */
  readonly name: string;
  /** Must be the caller's own tenant, which is the default. */
  readonly tenantId?: string;
  /** Default: the scopes of the kind. Never wider than the caller's own. */
  readonly scopes?: readonly string[];
  /** Default: never. A string (RFC 3339) is sent unchanged. */
  readonly expiresAt?: Date | string;
}

export interface Keys {
  /** Creates a key. Only this response contains the secret. */
  create(key: NewKey): Promise<MintedKeyView>;
  list(options?: RequestOptions): Pages<KeyView>;
  /** Revokes a key and returns it. */
  revoke(keyId: string, options?: RequestOptions): Promise<KeyView>;
}

export function keys(settings: Settings): Keys {
  return {
    create(key) {
      // Not retried: that could create a second key whose secret is lost.
      const what: HttpRequest = { method: 'POST', path: '/v1/keys', body: bodyOf(key), repeat: 'unsafe' };
      return request(settings, what, decodeMintedKey, boundsOf(key));
    },
    list: (options = {}) =>
      pages(settings, { path: '/v1/keys', plural: 'keys', query: {}, decode: decodeKey }, options),
    revoke(keyId, options = {}) {
      const path = `/v1/keys/${encodeURIComponent(keyId)}`;
      // Not retried: after a lost response, "no such key" would hide that the first request worked.
      const what: HttpRequest = { method: 'DELETE', path, repeat: 'unsafe' };
      return request(settings, what, decodeKey, boundsOf(options));
    },
  };
}

function bodyOf({ kind, name, tenantId, scopes, expiresAt }: NewKey): Record<string, unknown> {
  return {
    kind,
    name,
    ...(tenantId === undefined ? {} : { tenant_id: tenantId }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(expiresAt === undefined
      ? {}
      : { expires_at: expiresAt instanceof Date ? expiresAt.toISOString() : expiresAt }),
  };
}
