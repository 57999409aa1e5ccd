import { fullFormats } from 'ajv-formats/dist/formats.js';

type TextCheck = (text: string) => boolean;

export type FormatCheck =
  | { readonly type: 'string'; readonly validate: TextCheck }
  | { readonly type: 'number'; readonly validate: (value: number) => boolean };

/** Longer strings match no format. Bounds the cost of one check. */
const MAX_LENGTH = 4_096;

/** Formats taken from ajv-formats. Each pattern was reviewed: anchored, and unambiguous, so it does not backtrack. */
const AJV_FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'uri',
  'uri-reference',
  'uri-template',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
] as const;

const URL_START = /^(?:https?|ftp):\/\/[^\s/?#]/i;

/** The formats that are checked. Any other format is an annotation only. */
export const FORMATS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ...AJV_FORMATS.map((name): [string, FormatCheck] => [name, bounded(checkOf(name))]),
  // The pattern of ajv-formats takes quadratic time on a long sequence of colons.
  ['url', bounded((text) => URL_START.test(text) && checkOf('uri')(text))],
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

function checkOf(name: (typeof AJV_FORMATS)[number]): TextCheck {
  const format: unknown = fullFormats[name];
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as TextCheck;
  const { validate } = format as { validate: TextCheck };
  return validate;
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
