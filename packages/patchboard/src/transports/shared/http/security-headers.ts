/** Default headers of every response. Pages of the console set their own content security policy. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export const API_HEADER_NAMES: readonly string[] = Object.keys(API_HEADERS);

export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, if-none-match, last-event-id, prefer, traceparent, ' +
    'x-agent-id, x-client-id, x-npc-id, x-session-id, x-session-proof, x-site-id, x-span-id, x-tenant-id, ' +
    'x-trace-id, x-user-id',
  'access-control-max-age': '600',
};

/** For an origin in `allowedOrigins`. */
export function corsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'etag, preference-applied, ratelimit, ratelimit-policy, retry-after',
    vary: 'origin',
  };
}
