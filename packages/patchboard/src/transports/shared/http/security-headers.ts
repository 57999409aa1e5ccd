/** Default headers of every response. Pages of the console set their own content security policy. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export const API_HEADER_NAMES: readonly string[] = Object.keys(API_HEADERS);

const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-none-match, last-event-id, mcp-method, mcp-name, ' +
  'mcp-protocol-version, mcp-session-id, prefer, traceparent, x-agent-id, x-client-id, x-npc-id, x-session-id, ' +
  'x-session-proof, x-site-id, x-span-id, x-tenant-id, x-trace-id, x-user-id';

/** The MCP headers that carry arguments of a tool; the tool chooses the rest of the name. */
const PARAMETER_HEADER = /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
const PARAMETER_HEADERS_MAX = 64;

/** Returns the headers of a preflight response; `requested` is `Access-Control-Request-Headers`. */
export function preflightHeaders(requested = ''): Record<string, string> {
  return {
    'access-control-allow-methods': 'GET, POST, PUT, DELETE',
    'access-control-allow-headers': [REQUEST_HEADERS, ...parameterHeadersIn(requested)].join(', '),
    'access-control-max-age': '600',
  };
}

/** CORS has no prefix wildcard, so the requested names are returned. */
function parameterHeadersIn(requested: string): readonly string[] {
  const names = requested
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return [...new Set(names.filter((name) => PARAMETER_HEADER.test(name)))].slice(0, PARAMETER_HEADERS_MAX);
}

/** For an origin in `allowedOrigins`. */
export function corsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'etag, mcp-session-id, preference-applied, ratelimit, ratelimit-policy, retry-after, www-authenticate',
    vary: 'origin',
  };
}
