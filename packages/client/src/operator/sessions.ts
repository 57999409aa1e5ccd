import type { SessionView } from '@patchboard/wire';
import { anything } from '../decode/decode.ts';
import { decodeSession } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

/** Browser sessions of an operator. The browser sends the cookie; the page must store the proof and send it as a header. */
export interface Sessions {
  /** Opens a session with the operator token or the single-use token of a login link. */
  open(token: string, options?: RequestOptions): Promise<SessionView>;
  close(options?: RequestOptions): Promise<void>;
}

export function sessions(settings: Settings): Sessions {
  return {
    open(token, options = {}) {
      // Not retried: the first request that arrives uses up the token of a link.
      const what: HttpRequest = { method: 'POST', path: '/v1/session', body: { token }, repeat: 'unsafe' };
      return request(settings, what, decodeSession, boundsOf(options));
    },
    async close(options = {}) {
      const what: HttpRequest = { method: 'DELETE', path: '/v1/session', repeat: 'safe' };
      await request(settings, what, anything, boundsOf(options));
    },
  };
}
