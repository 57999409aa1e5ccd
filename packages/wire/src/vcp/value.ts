import {
  closerOf,
  findTaggedCloser,
  OPENER_SIGN,
  openerOf,
  REQUEST_START,
  type ValueTag,
} from './markers.ts';

/** The start of the next field. Inside an untagged value it means that the value was never closed. */
const FIELD_BEGINNING = /[\s,，；、][A-Za-z0-9_-]+\s*:\s*(?:「始」|[「{]始ESCAPE\d{0,9}[」}])/i;
const ESCAPED_MARKER = /<<<\[((?:END_)?TOOL_(?:REQUEST|RESULT|DEFINITION))_ESCAPE\]>>>|「始ESCAPE」/g;
const MARKER = /<<<\[((?:END_)?TOOL_(?:REQUEST|RESULT|DEFINITION))\]>>>/g;
const NUMBERED_CLOSER = /[「{]末ESCAPE([1-9]\d{0,8})[」}]/gi;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Returns the value between the markers: strips one newline at each end and keeps the rest unchanged. */
export function readValue(text: string, tag: ValueTag): string {
  const first = text.charCodeAt(0);
  const start = first === NEWLINE ? 1 : first === RETURN && text.charCodeAt(1) === NEWLINE ? 2 : 0;
  let end = text.length;
  if (end > start && text.charCodeAt(end - 1) === NEWLINE)
    end -= end - 1 > start && text.charCodeAt(end - 2) === RETURN ? 2 : 1;
  const value = text.slice(start, end);
  return tag === 'ESCAPE' ? unescapeMarkers(value) : value;
}

/** Inside an ESCAPE value, markers are written with an `_ESCAPE` suffix. */
function unescapeMarkers(value: string): string {
  if (!value.includes('ESCAPE')) return value;
  return value.replace(ESCAPED_MARKER, (_all, name: string | undefined) =>
    name === undefined ? '「始」' : `<<<[${name}]>>>`,
  );
}

/** Whether an untagged value contains the start of another field, i.e. was never closed. */
export function runsIntoField(value: string): boolean {
  return value.includes(OPENER_SIGN) && FIELD_BEGINNING.test(value);
}

/** Writes a value with markers so that reading it returns exactly `value`. */
export function writeValue(value: string): string {
  const body = withNewlines(value);
  return withMarkers(body, isPlain(body) ? '' : tagFor(value));
}

/**
 * Writes untrusted text for a model. It escapes our markers, so that neither a model that repeats the text nor a
 * parser that does not support tags can mistake it for a request or for the end of the block.
 */
export function writeShownValue(text: string): string {
  const shown = text.replace(MARKER, '<<<[$1_ESCAPE]>>>');
  if (shown === text) return writeValue(text);
  const tag = containsEscapeCloser(shown) ? numberedTagFor(shown) : 'ESCAPE';
  return withMarkers(withNewlines(shown), tag);
}

function isPlain(body: string): boolean {
  return !body.includes(closerOf('')) && !body.includes(REQUEST_START) && !runsIntoField(body);
}

/** Returns the first tag whose closer does not occur in the value and that preserves the value. */
function tagFor(value: string): ValueTag {
  if (!containsEscapeCloser(value) && unescapeMarkers(value) === value) return 'ESCAPE';
  return numberedTagFor(value);
}

function containsEscapeCloser(value: string): boolean {
  return findTaggedCloser(value, 'ESCAPE', 0) !== null;
}

function numberedTagFor(value: string): ValueTag {
  const taken = new Set<number>();
  for (const [, number] of value.matchAll(NUMBERED_CLOSER)) taken.add(Number(number));
  let free = 1;
  while (taken.has(free)) free += 1;
  return `ESCAPE${free}`;
}

/** Adds a newline at both ends if the value begins or ends with one, because reading strips one at each end. */
function withNewlines(value: string): string {
  if (!value.startsWith('\n') && !value.startsWith('\r\n') && !value.endsWith('\n')) return value;
  return `\n${value}${value.endsWith('\r') ? '\r\n' : '\n'}`;
}

function withMarkers(body: string, tag: ValueTag): string {
  return openerOf(tag) + body + closerOf(tag);
}
