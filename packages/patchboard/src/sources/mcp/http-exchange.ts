import type { FetchLike } from '@modelcontextprotocol/client';
import { ConnectionLost, isUnknownSession, NotStarted, ResponseTooLarge } from './mcp-connection.ts';
import { networkError } from './network-error.ts';

/** The access tokens of one upstream. */
export interface AccessTokens {
  /** Resolves to a token that is valid as far as is known. */
  token(): Promise<string>;
  /** Forgets the token, which the server refused; the next call of `token` requests another one. */
  renew(): Promise<void>;
}

/** The request that an HTTP exchange belongs to. */
interface ExchangeOwner {
  reject(error: unknown): void;
  readonly abort: AbortController;
}

export interface HttpExchangeOptions {
  readonly fetch: FetchLike;
  /** Null: the headers contain all credentials. */
  readonly accessTokens: AccessTokens | null;
  /** Returns the request that the caller runs for; undefined: the exchange belongs to the connection. */
  readonly owner: () => ExchangeOwner | undefined;
  /** The stream for notifications was opened or refused. */
  readonly onStream: () => void;
  /** The server is gone, or does not know the session. */
  readonly onLost: (error: Error) => void;
}

/**
 * Wraps `fetch` for the SDK's transport: adds the access token, and throws `NotStarted` or `ConnectionLost`
 * for responses whose status says so. Other responses, such as 400 and 404, are returned: the SDK derives the era of the
 * server from them.
 */
export function httpExchange(options: HttpExchangeOptions): FetchLike {
  let hasStream = false;
  return async (url, init) => {
    const owner = options.owner();
    let response = await send(options, url, init);
    if ((response.status === 401 || response.status === 403) && options.accessTokens !== null) {
      await response.body?.cancel();
      await token(options.accessTokens.renew());
      response = await send(options, url, init);
    }
    const isGet = init?.method === 'GET';
    if (isGet) options.onStream();
    const error = statusError(response, owner !== undefined && !isGet);
    if (error !== null) await response.body?.cancel();
    if (error instanceof ConnectionLost && isGateway(response.status) && !isGet) options.onLost(error);
    if (error !== null) throw error;
    // The stream for notifications was open before. A server that never had one may respond so too.
    if (isGet && hasStream && isUnknownSession(response.status))
      options.onLost(unknownSession(response.status));
    hasStream ||= isGet && response.ok;
    return watched(response, (failure) => {
      if (failure instanceof ResponseTooLarge) endExchange(owner, options, failure);
    });
  };
}

export function unknownSession(status: number): NotStarted {
  return new NotStarted('the server does not know the session any more', { mayRetry: true, status });
}

async function send(
  { fetch, accessTokens, onLost }: HttpExchangeOptions,
  url: string | URL,
  init: RequestInit | undefined,
): Promise<Response> {
  const headers = new Headers(init?.headers);
  if (accessTokens !== null) headers.set('authorization', `Bearer ${await token(accessTokens.token())}`);
  try {
    return await fetch(url, { ...init, headers });
  } catch (thrown) {
    if (init?.signal?.aborted === true) throw thrown;
    const error = networkError(thrown);
    onLost(error);
    throw error;
  }
}

async function token<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    const { message } = networkError(error);
    throw new NotStarted(`no access token was obtained: ${message}`, { mayRetry: true });
  }
}

/** The error of a response by its status; null: the caller reads it. */
function statusError(response: Response, expectsResponse: boolean): NotStarted | ConnectionLost | null {
  const { status } = response;
  if (status === 401 || status === 403)
    return new NotStarted(`the server refused the credentials (HTTP ${status})`, { mayRetry: false, status });
  if (status === 429) {
    const retryAfterMs = retryAfter(response.headers.get('retry-after'));
    return new NotStarted('the server receives too many requests (HTTP 429)', {
      mayRetry: true,
      status,
      retryAfterMs,
    });
  }
  if (status >= 500) return new ConnectionLost(`the server failed (HTTP ${status})`);
  if (status === 202 && expectsResponse)
    return new ConnectionLost('the server accepted the request without a response (HTTP 202)');
  return null;
}

/** A proxy could not reach the server behind it. */
function isGateway(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Seconds or a date, as milliseconds from now; null if it is neither. */
function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** Also ends the SDK's attempts to resume the stream, which would deliver the same event again. */
function endExchange(
  owner: ExchangeOwner | undefined,
  { onLost }: HttpExchangeOptions,
  error: ResponseTooLarge,
): void {
  if (owner === undefined) return onLost(error);
  owner.reject(error);
  owner.abort.abort(error);
}

/** Calls `onError` when the event stream fails, before its reader learns of it: the SDK does not pass the error on. */
function watched(response: Response, onError: (error: Error) => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null || !/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) return response;
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onError(networkError(error));
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(stream, { status, statusText, headers });
}
