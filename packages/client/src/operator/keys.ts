import type { KeyKindName, KeyView, MintedKeyView } from '@patchboard/wire';
import { decodeKey, decodeMintedKey } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface NewKey extends RequestOptions {
  readonly kind: KeyKindName;
  /** The agent, client, service or operator that the key stands for. */
  readonly name: string;
  /** Default: your own, and no other is possible. */
  readonly tenantId?: string;
  /** Default: what the kind is good for. Never wider than your own. */
  readonly scopes?: readonly string[];
  /** Default: never. A string goes to the server as it is (RFC 3339). */
  readonly expiresAt?: Date | string;
}

export interface Keys {
  /** The only answer that holds the secret. */
  create(key: NewKey): Promise<MintedKeyView>;
  list(options?: RequestOptions): Pages<KeyView>;
  /** The key opens nothing from now on. Answers with the key that was. */
  revoke(keyId: string, options?: RequestOptions): Promise<KeyView>;
}

export function keys(settings: Settings): Keys {
  return {
    create(key) {
      // A repeated request would make a second key, whose secret nobody reads.
      const what: HttpRequest = { method: 'POST', path: '/v1/keys', body: bodyOf(key), repeat: 'unsafe' };
      return request(settings, what, decodeMintedKey, boundsOf(key));
    },
    list: (options = {}) =>
      pages(settings, { path: '/v1/keys', plural: 'keys', query: {}, decode: decodeKey }, options),
    revoke(keyId, options = {}) {
      const path = `/v1/keys/${encodeURIComponent(keyId)}`;
      // Not repeated by itself: after a lost answer, "no such key" would hide that it worked.
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
