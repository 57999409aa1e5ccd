const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** Source of a pattern. */
export const IPV4: string = `(?:${OCTET}\\.){3}${OCTET}`;
const IPV4_AT_END = new RegExp(`(^|:)${IPV4}$`);
const GROUP = /^[0-9a-f]{1,4}$/i;

/** RFC 4291, without a zone. */
export function isIpv6(text: string): boolean {
  // An IPv4 address may stand for the last two groups.
  const halves = text.replace(IPV4_AT_END, '$10:0').split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const isComplete = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length <= 7;
  return isComplete && groups.every((group) => GROUP.test(group));
}

// The grammar of RFC 3986.
const ESCAPE = '%[0-9a-f]{2}';
const NAME_CHARACTER = `[\\w\\-.~!$&'()*+,;=]|${ESCAPE}`;
const PATH_CHARACTER = `[\\w\\-.~!$&'()*+,;=:@]|${ESCAPE}`;
const QUERY_CHARACTER = `[\\w\\-.~!$&'()*+,;=:@/?]|${ESCAPE}`;
const USER = `(?:[\\w\\-.~!$&'()*+,;=:]|${ESCAPE})*@`;
/** Its first group is an IPv6 address, which is checked apart. */
const HOST = `(?:\\[(?:([0-9a-f:.]+)|v[0-9a-f]+\\.[\\w\\-.~!$&'()*+,;=:]+)\\]|(?:${NAME_CHARACTER})*)`;
const SEGMENTS = `(?:/(?:${PATH_CHARACTER})*)*`;
const ROOTLESS = `(?:${PATH_CHARACTER})+${SEGMENTS}`;
/** One slash before a host is accepted too. */
const HIERARCHY = `(?:/?/(?:${USER})?${HOST}(?::\\d*)?${SEGMENTS}|/(?:${ROOTLESS})?|${ROOTLESS})`;
const REST = `(?:\\?(?:${QUERY_CHARACTER})*)?(?:#(?:${QUERY_CHARACTER})*)?`;
const SCHEME = '[a-z][a-z0-9+\\-.]*:';
const URI = new RegExp(`^${SCHEME}${HIERARCHY}${REST}$`, 'i');
const URI_REFERENCE = new RegExp(`^(?:${SCHEME})?${HIERARCHY}?${REST}$`, 'i');

export function isUri(text: string): boolean {
  return hasForm(URI, text);
}

export function isUriReference(text: string): boolean {
  return hasForm(URI_REFERENCE, text);
}

function hasForm(pattern: RegExp, text: string): boolean {
  const found = pattern.exec(text);
  return found !== null && (found[1] === undefined || isIpv6(found[1]));
}
