/** A response of the server. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
  /** The number of the node that responded, if it is known. */
  readonly node?: number;
}

export interface Asking {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Request timeout, longer than any request should take, so that a hang fails the test. */
const PATIENCE_MS = 30_000;

export async function get(url: string, asking: Asking = {}): Promise<HttpResponse> {
  return await send(url, { method: 'GET', headers: { ...asking.headers } }, asking.signal);
}

export async function post(url: string, body: unknown, asking: Asking = {}): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', ...asking.headers };
  return await send(url, { method: 'POST', headers, body: JSON.stringify(body) }, asking.signal);
}

/** Status and body, for messages. */
export function textOf({ status, body }: HttpResponse): string {
  return `${status}: ${JSON.stringify(body)}`;
}

/** Null if the connection was lost: the request may or may not have been processed. */
export async function orGone(response: Promise<HttpResponse>): Promise<HttpResponse | null> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof TypeError || (error instanceof Error && error.name === 'AbortError')) return null;
    throw error;
  }
}

async function send(url: string, init: RequestInit, signal: AbortSignal | undefined): Promise<HttpResponse> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const response = await fetch(url, {
    ...init,
    signal: signal === undefined ? patience : AbortSignal.any([patience, signal]),
  });
  const text = await response.text();
  const body = text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  return { status: response.status, headers: response.headers, body };
}
