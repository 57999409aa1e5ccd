import { fullFormats } from 'ajv-formats/dist/formats.js';

type TextCheck = (text: string) => boolean;

export type FormatCheck =
  | { readonly type: 'string'; readonly validate: TextCheck }
  | { readonly type: 'number'; readonly validate: (value: number) => boolean };

/** Nothing longer is one of these; it also bounds what one check may cost. */
const MAX_LENGTH = 4_096;

/** From ajv-formats, each looked at: anchored, and with no two ways to read the same run of characters. */
const BORROWED = [
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

/** Every other format is an annotation: it is shown, and not checked. */
export const FORMATS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ...BORROWED.map((name): [string, FormatCheck] => [name, bounded(checkOf(name))]),
  // The borrowed pattern takes quadratic time on a long run of colons.
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

function checkOf(name: (typeof BORROWED)[number]): TextCheck {
  const format: unknown = fullFormats[name];
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as TextCheck;
  const { validate } = format as { validate: TextCheck };
  return validate;
}

/** Parsing never runs the pattern, and takes linear time. */
function isRegex(text: string): boolean {
  try {
    void new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}
