import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { operationProblem } from './argument-problem.ts';
import { buildBody } from './build-body.ts';
import {
  cookiePairs,
  headerValue,
  isHeaderName,
  isHeaderParameter,
  isHeaderValue,
} from './header-parameters.ts';
import type { Operation } from './operation.ts';
import { expandPath } from './path-parameters.ts';
import { percentEncode } from './percent-encoding.ts';
import { queryPairs } from './query-parameters.ts';

/** What is added to a request besides the arguments. */
export interface Additions {
  /** They replace headers of the same name that come from arguments. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

/** By name. A map has no inherited members. */
type Arguments = ReadonlyMap<string, unknown>;

export const NO_ADDITIONS: Additions = { headers: {}, query: {}, cookies: {} };

export interface BuiltRequest {
  readonly method: string;
  readonly url: string;
  /** The names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/**
 * Builds the request of a call. `server`: the base URL, whose path is kept. Throws `ToolFailure`, not started, if the
 * arguments cannot be sent.
 */
export function buildRequest(
  operation: Operation,
  args: unknown,
  server: URL,
  additions: Additions = NO_ADDITIONS,
): BuiltRequest {
  const values: Arguments = new Map(Object.entries(isRecord(args) ? args : {}));
  const headers = headersOf(operation, values);
  const body =
    operation.body === null ? null : buildBody(operation.body, values.get(operation.body.argument));
  if (body !== null && (operation.method === 'GET' || operation.method === 'HEAD'))
    throw operationProblem(reason('openapi_body_of_get', { method: operation.method }));
  if (body !== null) headers.set('content-type', body.contentType);
  for (const [name, value] of Object.entries(additions.headers)) headers.set(name.toLowerCase(), value);
  const cookies = cookiesOf(operation, values, additions);
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '));
  for (const [name, value] of headers)
    if (!isHeaderName(name) || !isHeaderValue(value))
      throw operationProblem(reason('openapi_header_invalid', { name }));
  return {
    method: operation.method,
    url: urlOf(operation, values, server, additions),
    headers: Object.fromEntries(headers),
    body: body?.content ?? null,
  };
}

function headersOf(operation: Operation, values: Arguments): Map<string, string> {
  const headers = new Map<string, string>();
  for (const parameter of operation.parameters) {
    if (parameter.in !== 'header' || !isHeaderParameter(parameter.name)) continue;
    const text = headerValue(parameter, values.get(parameter.argument));
    if (text !== null) headers.set(parameter.name.toLowerCase(), text);
  }
  return headers;
}

function cookiesOf(operation: Operation, values: Arguments, { headers, cookies }: Additions): string[] {
  const given = operation.parameters
    .filter((parameter) => parameter.in === 'cookie')
    .flatMap((parameter) => cookiePairs(parameter, values.get(parameter.argument)));
  const configured = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'cookie');
  return [...withAdded(given, cookies), ...configured.map(([, value]) => value)];
}

/** A path of a description may hold a query (`/?action=list`), and a fragment, which is never sent. */
function urlOf(operation: Operation, values: Arguments, server: URL, { query }: Additions): string {
  const [template = '', fixedQuery = ''] = (operation.path.split('#')[0] ?? '').split('?');
  const slash = template.startsWith('/') ? '' : '/';
  const path =
    server.pathname.replace(/\/+$/, '') + slash + expandPath(template, operation.parameters, values);
  const given = operation.parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap((parameter) => queryPairs(parameter, values.get(parameter.argument)));
  const pairs = [server.search.slice(1), fixedQuery, ...withAdded(given, query)].filter(
    (pair) => pair !== '',
  );
  const url = new URL(`${server.origin}${path}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`);
  // The parser would have resolved dot segments.
  if (url.pathname !== path) throw operationProblem(reason('openapi_path_dots', { path: operation.path }));
  return url.href;
}

/** Appends pairs, and drops given ones of the same name: the member of an exploded object could have it. */
function withAdded(given: readonly string[], added: Readonly<Record<string, string>>): string[] {
  const pairs = Object.entries(added).map(([name, value]) => [percentEncode(name, name), value] as const);
  const names = new Set(pairs.map(([key]) => key));
  return [
    ...given.filter((pair) => !names.has(pair.slice(0, pair.indexOf('=')))),
    ...pairs.map(([key, value]) => `${key}=${percentEncode(value, key)}`),
  ];
}
