/** All markers are matched exactly, including case. */
export const REQUEST_START = '<<<[TOOL_REQUEST]>>>';
export const REQUEST_END = '<<<[END_TOOL_REQUEST]>>>';
export const RESULT_START = '<<<[TOOL_RESULT]>>>';
export const RESULT_END = '<<<[END_TOOL_RESULT]>>>';
export const DEFINITION_START = '<<<[TOOL_DEFINITION]>>>';
export const DEFINITION_END = '<<<[END_TOOL_DEFINITION]>>>';

/** The character that occurs in every form of a value opener, and the one in every form of a closer. */
export const OPENER_SIGN = '始';
export const CLOSER_SIGN = '末';

/** @deprecated Openers have other forms as well: use `openerAt`. */
export const VALUE_OPENER = '「始';

/**
 * The text between `始` or `末` and `」`: empty, ESCAPE, ESCAPE1, ESCAPE2 … A value ends only at the closer with
 * its own tag, so it can contain any text. At most nine digits, which bounds the length of a marker.
 */
export type ValueTag = '' | 'ESCAPE' | `ESCAPE${number}`;

export const LONGEST_OPENER: number = '「始ESCAPE123456789」'.length;

export function openerOf(tag: ValueTag): string {
  return `「始${tag}」`;
}

export function closerOf(tag: ValueTag): string {
  return `「末${tag}」`;
}

/** Models also write ESCAPE in lower case or in braces; all these forms are equivalent. */
const OPENER = /「始」|[「{]始(ESCAPE\d{0,9})[」}]/iy;
const TAGGED_CLOSER = /[「{]末(ESCAPE\d{0,9})[」}]/iy;

const RIGHT_BRACKET = 0x300d; // 」

export interface FoundMarker {
  readonly at: number;
  readonly length: number;
}

/** Returns the opener that begins at `at`, or null. */
export function openerAt(
  text: string,
  at: number,
): { readonly tag: ValueTag; readonly length: number } | null {
  OPENER.lastIndex = at;
  const found = OPENER.exec(text);
  if (found === null) return null;
  return { tag: (found[1] ?? '').toUpperCase() as ValueTag, length: found[0].length };
}

/** Returns the first closer with this tag at or after `from`, in any form of the tag, or null. */
export function findTaggedCloser(text: string, tag: Exclude<ValueTag, ''>, from: number): FoundMarker | null {
  for (
    let sign = text.indexOf(CLOSER_SIGN, from + 1);
    sign !== -1;
    sign = text.indexOf(CLOSER_SIGN, sign + 1)
  ) {
    // Fast path: most closers have no tag.
    if (text.charCodeAt(sign + 1) === RIGHT_BRACKET) continue;
    TAGGED_CLOSER.lastIndex = sign - 1;
    const found = TAGGED_CLOSER.exec(text);
    if (found !== null && found[1]?.toUpperCase() === tag) return { at: sign - 1, length: found[0].length };
  }
  return null;
}

/** Keys that the protocol reserves for itself; they are not arguments of the tool. */
export const META_KEYS: ReadonlySet<string> = new Set([
  'archery',
  'ink',
  'river',
  'vref',
  'timely_contact',
  'tool_password',
  'maid',
  'valet',
]);

export function isMetaKey(key: string): boolean {
  return META_KEYS.has(key);
}

const ARGUMENT_PREFIX = 'arg-';
const RESERVED: ReadonlySet<string> = new Set([
  ...META_KEYS,
  'tool_name',
  'request_id',
  'command',
  'command1',
]);

/** A reserved name with any number of prefixes is reserved too; otherwise two names would be written as the same key. */
function isReserved(name: string): boolean {
  let rest = name;
  while (rest.startsWith(ARGUMENT_PREFIX)) rest = rest.slice(ARGUMENT_PREFIX.length);
  return RESERVED.has(rest);
}

/** Returns the key under which an argument is written; adds a prefix to reserved names. */
export function keyOfArgument(name: string): string {
  return isReserved(name) ? ARGUMENT_PREFIX + name : name;
}

/** Inverse of `keyOfArgument`. */
export function argumentOfKey(key: string): string {
  if (!key.startsWith(ARGUMENT_PREFIX)) return key;
  const name = key.slice(ARGUMENT_PREFIX.length);
  return isReserved(name) ? name : key;
}
