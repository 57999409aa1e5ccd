import type { GrantView } from '@patchboard/wire';
import { decodeGrant } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

/** Standing approvals. They are created with a decision on a call. */
export interface Grants {
  list(options?: RequestOptions): Pages<GrantView>;
  /** Revokes a grant, so that matching calls require approval again. Returns the revoked grant. */
  revoke(grantId: string, options?: RequestOptions): Promise<GrantView>;
}

export function grants(settings: Settings): Grants {
  return {
    list: (options = {}) =>
      pages(settings, { path: '/v1/grants', plural: 'grants', query: {}, decode: decodeGrant }, options),
    revoke(grantId, options = {}) {
      const path = `/v1/grants/${encodeURIComponent(grantId)}`;
      // Not retried: after a lost response, "no such grant" would hide that the first request worked.
      const what: HttpRequest = { method: 'DELETE', path, repeat: 'unsafe' };
      return request(settings, what, decodeGrant, boundsOf(options));
    },
  };
}
