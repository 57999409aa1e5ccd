import type { InputKind } from '@patchboard/wire';
import { orAbort, throwIfAborted, type Bounds } from './abort.ts';
import type { Decoder } from '../decode/decode.ts';
import { guardAttempt } from './guard.ts';
import type { Settings } from './options.ts';
import { readResponse, type RawResponse } from './problem.ts';
import { retrier, type Repeat } from './retry.ts';
import type { FetchInit, FetchResponse } from './runtime.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Long poll: the server delays the response for up to this long. Sent as `Prefer: wait`. */
  readonly waitSeconds?: number;
  /** The input requests that the caller responds to. False: `Prefer: input=none`; a list: `Prefer: input="…"`. */
  readonly acceptsInput?: boolean | readonly InputKind[];
  /** Timeout of one attempt. Default: the client's `requestTimeoutMs`. */
  readonly timeoutMs?: number;
  readonly repeat: Repeat;
}

/** Options of every request. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
}

export function boundsOf(options: RequestOptions): Bounds {
  return { signal: options.signal, deadline: Infinity };
}

/** Sends a request, retries where that is safe, and decodes the response. */
export async function request<T>(
  settings: Settings,
  what: HttpRequest,
  decode: Decoder<T>,
  bounds: Bounds,
): Promise<T> {
  const retry = retrier(settings, bounds, 'brief');
  for (;;) {
    try {
      return await requestOnce(settings, what, decode, bounds);
    } catch (error) {
      await retry.pause(error, what.repeat);
    }
  }
}

export async function requestOnce<T>(
  settings: Settings,
  what: HttpRequest,
  decode: Decoder<T>,
  bounds: Bounds,
): Promise<T> {
  return readResponse(await exchange(settings, what, bounds), decode);
}

async function exchange(settings: Settings, what: HttpRequest, bounds: Bounds): Promise<RawResponse> {
  throwIfAborted(bounds.signal);
  const prepared = await prepare(settings, what);
  const guard = guardAttempt(settings, bounds);
  try {
    guard.arm((what.timeoutMs ?? settings.requestTimeoutMs) + (what.waitSeconds ?? 0) * 1000);
    const init: FetchInit = { ...prepared.init, signal: guard.signal };
    const response = await orAbort(settings.fetch(prepared.url, init), guard.signal);
    const text = await orAbort(response.text(), guard.signal);
    return { ...headOf(settings, what, response), text };
  } catch (error) {
    throw guard.explain(error);
  } finally {
    guard.dispose();
  }
}

export function headOf(
  settings: Settings,
  what: HttpRequest,
  response: FetchResponse,
): Omit<RawResponse, 'text'> {
  return {
    where: `${what.method} ${settings.url}${what.path}`,
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    retryAfter: response.headers.get('retry-after'),
  };
}

export async function prepare(
  settings: Settings,
  what: HttpRequest,
): Promise<{ readonly url: string; readonly init: Omit<FetchInit, 'signal'> }> {
  const headers: Record<string, string> = {
    accept: 'application/json, application/problem+json',
    ...(await settings.headers()),
    ...what.headers,
  };
  const preferences = [
    ...(what.waitSeconds === undefined ? [] : [`wait=${what.waitSeconds}`]),
    ...inputPreference(what.acceptsInput),
  ];
  if (preferences.length > 0) headers['prefer'] = preferences.join(', ');
  const url = settings.url + what.path;
  if (what.body === undefined) return { url, init: { method: what.method, headers } };
  headers['content-type'] = 'application/json';
  return { url, init: { method: what.method, headers, body: JSON.stringify(what.body) } };
}

/** Without this member the server expects that the caller can respond to forms and links. */
function inputPreference(accepted: HttpRequest['acceptsInput'] = true): string[] {
  if (accepted === true) return [];
  return [accepted === false || accepted.length === 0 ? 'input=none' : `input="${accepted.join(' ')}"`];
}

/** Appends the query parameters that are set. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}
