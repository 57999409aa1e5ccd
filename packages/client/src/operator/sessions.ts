import type { SessionView } from '@patchboard/wire';
import { anything } from '../decode/decode.ts';
import { decodeSession } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

/** An operator's session in a browser: the cookie is the browser's, the proof is yours to keep and to send. */
export interface Sessions {
  /** Takes the operator token, or the token of a login link, which is spent by it. */
  open(token: string, options?: RequestOptions): Promise<SessionView>;
  close(options?: RequestOptions): Promise<void>;
}

export function sessions(settings: Settings): Sessions {
  return {
    open(token, options = {}) {
      // Not repeated: the token of a link is spent by the first request that arrives.
      const what: HttpRequest = { method: 'POST', path: '/v1/session', body: { token }, repeat: 'unsafe' };
      return request(settings, what, decodeSession, boundsOf(options));
    },
    async close(options = {}) {
      const what: HttpRequest = { method: 'DELETE', path: '/v1/session', repeat: 'safe' };
      await request(settings, what, anything, boundsOf(options));
    },
  };
}
