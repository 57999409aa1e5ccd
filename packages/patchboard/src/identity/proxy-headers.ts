/** Headers that proxies, load balancers and content delivery networks add to forwarded requests. */
const NAMES: ReadonlySet<string> = new Set([
  'forwarded',
  'via',
  'x-forwarded',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-remote-ip',
  'x-remote-addr',
  'x-proxyuser-ip',
  'x-host',
  'x-rewrite-url',
  'client-ip',
  'true-client-ip',
  'proxy-client-ip',
  'wl-proxy-client-ip',
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'cf-ray',
  'cdn-loop',
  'fastly-client-ip',
  'fly-client-ip',
  'do-connecting-ip',
  'akamai-origin-hop',
  'cloudfront-viewer-address',
  'x-amz-cf-id',
  'x-appengine-user-ip',
  'x-azure-clientip',
  'x-azure-socketip',
  'x-envoy-external-address',
  'x-arr-clientcert',
  'x-varnish',
]);

const PREFIXES = ['x-forwarded-', 'x-original-'];

/** Returns the name of the first header that a proxy adds; undefined if there is none. */
export function proxyHeaderIn(headers: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(headers).find(
    (name) => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix)),
  );
}
