import { RedirectFailed } from './fetch-errors.ts';

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | URLSearchParams | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The only headers that another origin receives. All others may carry a secret. */
const HEADERS_FOR_OTHERS = ['accept', 'accept-language', 'user-agent'];

/** The headers that describe a body. */
const BODY_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
];

/** Returns the next request; null if the response is not a redirect; `RedirectFailed` if the redirect must not be followed. */
export function nextHop(hop: Hop, response: Response): Hop | RedirectFailed | null {
  const location = response.headers.get('location');
  if (location === null || !REDIRECTS.has(response.status)) return null;
  const url = targetOf(hop.url, location);
  if (url instanceof RedirectFailed) return url;
  const isOther = url.origin !== hop.url.origin;
  const becomesGet = isChangedToGet(response.status, hop.method);
  const isRepeated = !becomesGet && hop.method !== 'GET' && hop.method !== 'HEAD';
  if (isOther && isRepeated)
    return new RedirectFailed(
      `${hop.url.origin} redirects a ${hop.method} request to ${url.origin}, another origin: ` +
        'use the URL of that origin in the settings',
    );
  const headers = isOther ? headersForOthers(hop.headers) : new Headers(hop.headers);
  if (!becomesGet) return { ...hop, url, headers };
  for (const name of BODY_HEADERS) headers.delete(name);
  return { url, method: 'GET', headers, body: null };
}

function targetOf(from: URL, location: string): URL | RedirectFailed {
  if (!URL.canParse(location, from.href))
    return new RedirectFailed(`${from.origin} redirects to an address that is not a URL`);
  const url = new URL(location, from);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return new RedirectFailed(
      `${from.origin} redirects to ${url.protocol}, which is neither http: nor https:`,
    );
  if (from.protocol === 'https:' && url.protocol === 'http:')
    return new RedirectFailed(`${from.origin} redirects from https to ${url.origin}, which is not encrypted`);
  url.username = '';
  url.password = '';
  return url;
}

/** As the fetch standard has it. */
function isChangedToGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

function headersForOthers(headers: Headers): Headers {
  const kept = HEADERS_FOR_OTHERS.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Headers(kept);
}
