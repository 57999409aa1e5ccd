import {
  closerOf,
  findTaggedCloser,
  OPENER_SIGN,
  openerOf,
  REQUEST_START,
  type ValueTag,
} from './markers.ts';

/** What looks like the next field: inside a plain value it means that the value was never closed. */
const FIELD_BEGINNING = /[\s,，；、][A-Za-z0-9_-]+\s*:\s*(?:「始」|[「{]始ESCAPE\d{0,9}[」}])/i;
const ESCAPED_MARKER = /<<<\[((?:END_)?TOOL_(?:REQUEST|RESULT|DEFINITION))_ESCAPE\]>>>|「始ESCAPE」/g;
const MARKER = /<<<\[((?:END_)?TOOL_(?:REQUEST|RESULT|DEFINITION))\]>>>/g;
const NUMBERED_CLOSER = /[「{]末ESCAPE([1-9]\d{0,8})[」}]/gi;

/** The value between the markers: one newline at each end belongs to the layout, the rest byte for byte. */
export function readValue(text: string, tag: ValueTag): string {
  const start = text.startsWith('\n') ? 1 : text.startsWith('\r\n') ? 2 : 0;
  let end = text.length;
  if (end > start && text.endsWith('\n')) end -= end - 1 > start && text[end - 2] === '\r' ? 2 : 1;
  const value = text.slice(start, end);
  return tag === 'ESCAPE' ? unescapeMarkers(value) : value;
}

/** The origin writes markers inside an ESCAPE value with `_ESCAPE` in them. */
function unescapeMarkers(value: string): string {
  if (!value.includes('ESCAPE')) return value;
  return value.replace(ESCAPED_MARKER, (_all, name: string | undefined) =>
    name === undefined ? '「始」' : `<<<[${name}]>>>`,
  );
}

/** Whether a plain value runs into what must be the field after it. */
export function runsIntoField(value: string): boolean {
  return value.includes(OPENER_SIGN) && FIELD_BEGINNING.test(value);
}

/** Reads back as it is, whatever it holds. */
export function writeValue(value: string): string {
  const body = laidOut(value);
  return enclosed(body, isPlain(body) ? '' : tagFor(value));
}

/**
 * For text that others wrote and a model reads: no marker of ours stands in it, so that nobody who repeats it,
 * and no reader that knows no tags, can take it for a request or for the end of the block.
 */
export function writeShownValue(text: string): string {
  const shown = text.replace(MARKER, '<<<[$1_ESCAPE]>>>');
  if (shown === text) return writeValue(text);
  const tag = endsEscape(shown) ? numberedTagFor(shown) : 'ESCAPE';
  return enclosed(laidOut(shown), tag);
}

function isPlain(body: string): boolean {
  return !body.includes(closerOf('')) && !body.includes(REQUEST_START) && !runsIntoField(body);
}

/** The first tag whose end does not occur in the value, and which reads it back unchanged. */
function tagFor(value: string): ValueTag {
  if (!endsEscape(value) && unescapeMarkers(value) === value) return 'ESCAPE';
  return numberedTagFor(value);
}

function endsEscape(value: string): boolean {
  return findTaggedCloser(value, 'ESCAPE', 0) !== null;
}

function numberedTagFor(value: string): ValueTag {
  const taken = new Set<number>();
  for (const [, number] of value.matchAll(NUMBERED_CLOSER)) taken.add(Number(number));
  let free = 1;
  while (taken.has(free)) free += 1;
  return `ESCAPE${free}`;
}

/** Text that begins or ends with a newline is wrapped in one pair more, which reading takes off again. */
function laidOut(value: string): string {
  if (!value.startsWith('\n') && !value.startsWith('\r\n') && !value.endsWith('\n')) return value;
  return `\n${value}${value.endsWith('\r') ? '\r\n' : '\n'}`;
}

function enclosed(body: string, tag: ValueTag): string {
  return openerOf(tag) + body + closerOf(tag);
}
