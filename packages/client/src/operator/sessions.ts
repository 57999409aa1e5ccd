import type { CurrentSessionView, SessionView } from '@patchboard/wire';
import { anything } from '../decode/decode.ts';
import { decodeCurrentSession, decodeSession } from '../decode/operator-views.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';

/** Browser sessions of operators and of keys. The browser sends the cookie; the page must store the proof and send it as a header. */
export interface Sessions {
  /** Opens a session with the operator token, the single-use token of a login link, or a key. */
  open(token: string, options?: RequestOptions): Promise<SessionView>;
  /** The principal of this client's credential, whether it is a session or not. */
  current(options?: RequestOptions): Promise<CurrentSessionView>;
  close(options?: RequestOptions): Promise<void>;
}

export function sessions(settings: Settings): Sessions {
  return {
    open(token, options = {}) {
      // Not retried: the first request that arrives uses up the token of a link.
      const what: HttpRequest = { method: 'POST', path: '/v1/session', body: { token }, repeat: 'unsafe' };
      return request(settings, what, decodeSession, boundsOf(options));
    },
    current(options = {}) {
      const what: HttpRequest = { method: 'GET', path: '/v1/session', repeat: 'safe' };
      return request(settings, what, decodeCurrentSession, boundsOf(options));
    },
    async close(options = {}) {
      const what: HttpRequest = { method: 'DELETE', path: '/v1/session', repeat: 'safe' };
      await request(settings, what, anything, boundsOf(options));
    },
  };
}
