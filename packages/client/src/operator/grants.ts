import type { GrantView } from '@patchboard/wire';
import { decodeGrant } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

/** Standing answers. They are given while deciding on a call. */
export interface Grants {
  list(options?: RequestOptions): Pages<GrantView>;
  /** Operators are asked again from now on. Answers with the grant that was. */
  revoke(grantId: string, options?: RequestOptions): Promise<GrantView>;
}

export function grants(settings: Settings): Grants {
  return {
    list: (options = {}) =>
      pages(settings, { path: '/v1/grants', plural: 'grants', query: {}, decode: decodeGrant }, options),
    revoke(grantId, options = {}) {
      const path = `/v1/grants/${encodeURIComponent(grantId)}`;
      // Not repeated by itself: after a lost answer, "no such grant" would hide that it worked.
      const what: HttpRequest = { method: 'DELETE', path, repeat: 'unsafe' };
      return request(settings, what, decodeGrant, boundsOf(options));
    },
  };
}
