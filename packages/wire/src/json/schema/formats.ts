import { isUri, isUriReference, IPV4, isIpv6 } from './address-formats.ts';
import { isDate, isDateTime, isTime } from './time-formats.ts';

type TextCheck = (text: string) => boolean;

export type FormatCheck =
  | { readonly type: 'string'; readonly validate: TextCheck }
  | { readonly type: 'number'; readonly validate: (value: number) => boolean };

/** Longer strings match no format. Bounds the cost of one check. */
const MAX_LENGTH = 4_096;

// Every pattern is anchored and unambiguous, so that it does not backtrack.
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;
const EMAIL =
  /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const HOSTNAME =
  /^(?=.{1,253}\.?$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i;
const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;
const RELATIVE_POINTER = /^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/;
const TEMPLATE_NAME = '(?:\\w|%[0-9a-f]{2})+(?::[1-9]\\d{0,3}|\\*)?';
const URI_TEMPLATE = new RegExp(
  `^(?:[^\\x00-\\x20"'<>%\\\\^\`{|}]|%[0-9a-f]{2}|\\{[+#./;?&=,!@|]?${TEMPLATE_NAME}(?:,${TEMPLATE_NAME})*\\})*$`,
  'i',
);
const URL_START = /^(?:https?|ftp):\/\/[^\s/?#]/i;

/** The formats that are checked. Any other format is an annotation only. */
export const FORMATS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ['date', bounded(isDate)],
  ['time', bounded(isTime)],
  ['date-time', bounded(isDateTime)],
  ['duration', matching(DURATION)],
  ['uri', bounded(isUri)],
  ['uri-reference', bounded(isUriReference)],
  ['uri-template', matching(URI_TEMPLATE)],
  ['url', bounded((text) => URL_START.test(text) && isUri(text))],
  ['email', matching(EMAIL)],
  ['hostname', matching(HOSTNAME)],
  ['ipv4', matching(new RegExp(`^${IPV4}$`))],
  ['ipv6', bounded(isIpv6)],
  ['uuid', matching(UUID)],
  ['json-pointer', matching(POINTER)],
  ['relative-json-pointer', matching(RELATIVE_POINTER)],
  ['regex', bounded(isRegex)],
  [
    'int32',
    {
      type: 'number',
      validate: (value) => Number.isInteger(value) && Math.abs(value + 0.5) < 2 ** 31,
    },
  ],
  ['int64', { type: 'number', validate: (value) => Number.isInteger(value) }],
]);

function bounded(check: TextCheck): FormatCheck {
  return { type: 'string', validate: (text) => text.length <= MAX_LENGTH && check(text) };
}

function matching(pattern: RegExp): FormatCheck {
  return bounded((text) => pattern.test(text));
}

/** Only parses the pattern, in linear time. */
function isRegex(text: string): boolean {
  try {
    void new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
