import type { Agent, RequestInit as UndiciRequestInit } from 'undici';
import { withBoundedBody } from './bounded-body.ts';
import {
  AddressNotAllowed,
  CouldNotConnect,
  isBeforeSend,
  RedirectFailed,
  RequestFailed,
} from './fetch-errors.ts';
import { guardedConnector, resolveByDns, type Resolve } from './guarded-connector.ts';
import { nextHop, type Hop } from './redirects.ts';

export interface GuardedFetchOptions {
  /** Origins that the operator configured, such as `http://127.0.0.1:3000`: they may have private addresses. */
  readonly allowedOrigins: readonly string[];
  /** The limit of a response body, and of each event of an event stream. Decompressed bytes count. */
  readonly maxBodyBytes?: number;
  readonly connectTimeoutMs?: number;
  readonly resolve?: Resolve;
}

/**
 * Fetches like the global function, with the guards of `guardedFetch`. Rejects with an error of `fetch-errors.ts` or the reason of
 * `init.signal`. It has no time limit besides that of the connection: pass a signal.
 */
export interface GuardedFetch {
  (url: string | URL, init?: RequestInit): Promise<Response>;
  /** Closes all connections. Requests in flight reject, and later ones too. */
  close(): Promise<void>;
}

export const MAX_BODY_BYTES = 4_194_304;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;

/**
 * Returns a `fetch` for requests to upstreams. Besides the allowed origins it connects to public addresses only; it sends no
 * credentials to another origin; it bounds bodies; it never sends a request twice.
 */
export function guardedFetch({
  allowedOrigins,
  maxBodyBytes = MAX_BODY_BYTES,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
  resolve = resolveByDns,
}: GuardedFetchOptions): GuardedFetch {
  const origins = new Set(allowedOrigins.map((origin) => new URL(origin).origin));
  let loaded: ReturnType<typeof load> | null = null;
  let isClosed = false;
  // Loading undici takes longer than the rest of a start.
  const load = async () => {
    const { Agent, buildConnector, fetch } = await import('undici');
    const connect = guardedConnector(buildConnector, { allowedOrigins: origins, connectTimeoutMs, resolve });
    return { agent: new Agent({ connect, headersTimeout: 0, bodyTimeout: 0 }), fetch };
  };

  const send = async (hop: Hop, init: RequestInit): Promise<Response> => {
    const { url, method, headers, body } = hop;
    // Another agent would stay open.
    if (isClosed) throw new CouldNotConnect(url.origin, new Error('the upstream is closed'));
    const { agent, fetch } = await (loaded ??= load());
    const once = new OnceDispatcher(agent);
    const request = { ...init, method, headers, body, redirect: 'manual', dispatcher: once };
    try {
      return (await fetch(url, request as unknown as UndiciRequestInit)) as unknown as Response;
    } catch (error) {
      init.signal?.throwIfAborted();
      const cause = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
      if (isBeforeSend(cause)) throw cause;
      throw once.isUsed ? new RequestFailed(url.origin, cause) : new CouldNotConnect(url.origin, cause);
    }
  };

  const follow = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    let hop = await firstHop(url, init);
    let response = await send(hop, init);
    for (let count = 1; init.redirect !== 'manual'; count += 1) {
      const next = nextHop(hop, response);
      if (next === null) break;
      await response.body?.cancel();
      if (next instanceof RedirectFailed) throw next;
      if (init.redirect === 'error') throw new RedirectFailed(`${hop.url.origin} redirects`);
      if (count > MAX_REDIRECTS)
        throw new RedirectFailed(
          `${hop.url.origin} redirects: the limit is ${MAX_REDIRECTS} redirects in a row`,
        );
      response = await send(next, init).catch((error: unknown) => {
        init.signal?.throwIfAborted();
        // The first request was sent: the caller must not take the failure of a later one for "not sent".
        throw new RedirectFailed(`after a redirect from ${hop.url.origin}: ${(error as Error).message}`, {
          cause: error,
        });
      });
      hop = next;
    }
    // Outside of the range of the fetch standard.
    if (response.status > 599) {
      await response.body?.cancel();
      throw new RequestFailed(hop.url.origin, new Error(`${response.status} is not a status of HTTP`));
    }
    return withBoundedBody(response, hop.url.href, maxBodyBytes);
  };

  return Object.assign(follow, {
    close: async () => {
      const ending = loaded;
      isClosed = true;
      loaded = null;
      await (await ending)?.agent.destroy();
    },
  });
}

async function firstHop(
  given: string | URL,
  { method = 'GET', headers: init, body }: RequestInit,
): Promise<Hop> {
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new AddressNotAllowed(`${url.protocol} is neither http: nor https:`);
  if (url.username !== '' || url.password !== '')
    throw new AddressNotAllowed(`the URL of ${url.host} contains credentials: send them in a header`);
  const headers = new Headers(init);
  const hop = { url, method: method.toUpperCase(), headers };
  if (body === undefined || body === null) return { ...hop, body: null };
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof URLSearchParams)
    return { ...hop, body };
  // The package undici does not know the classes of the global fetch, such as FormData.
  const encoded = new Response(body);
  const type = encoded.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  return { ...hop, body: new Uint8Array(await encoded.arrayBuffer()) };
}

/** Passes one request on to the agent, and no second one: the fetch standard sends a request again after status 421. */
class OnceDispatcher {
  readonly #agent: Agent;
  isUsed = false;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  dispatch(...[options, handler]: Parameters<Agent['dispatch']>): boolean {
    if (this.isUsed) throw new Error('the server responded with status 421');
    this.isUsed = true;
    return this.#agent.dispatch(options, handler);
  }
}
