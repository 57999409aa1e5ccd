import {
  closerOf,
  LONGEST_OPENER,
  openerOf,
  readValue,
  REQUEST_END,
  REQUEST_START,
  runsIntoField,
  VALUE_OPENER,
  type ValueTag,
} from '@patchboard/wire/vcp';
import type { ParseError, ParseErrorCode } from '../protocol.ts';
import { readBlock, type Field } from './block.ts';
import { cutMarker } from './finder.ts';
import { GAP, LOST, type Block, type BlockPart, type OpenValue, type Scan } from './scan.ts';

const BLOCK_MARKERS = [REQUEST_END, REQUEST_START];
const LOST_MARKERS = [...BLOCK_MARKERS, VALUE_OPENER];
const OPENER = /「始(|ESCAPE\d{0,9})」/y;
const HALF_OPENER = /^「(?:始(?:E|ES|ESC|ESCA|ESCAP|ESCAPE\d{0,9})?)?$/;
const KEY_CHARACTER = /[A-Za-z0-9_-]/;
const KEY = /[A-Za-z0-9_-]*/y;
const WHITESPACE = /\s*/y;
const SEPARATORS = /[\s,]*/y;
const PLAIN_HEAD = `:${openerOf('')}`;
const PLAIN_CLOSER = closerOf('');

/** Reads on inside a block. False: more text is needed. */
export function scanBlock(scan: Scan, block: Block, part: BlockPart): boolean {
  switch (part.kind) {
    case 'gap':
      return scanGap(scan, block);
    case 'key':
      return scanKey(scan, block, part.key, part.offset);
    case 'colon':
      return scanColon(scan, block, part.key, part.offset);
    case 'open':
      return scanOpener(scan, block, part.key, part.offset);
    case 'value':
      return part.tag === '' ? scanPlainValue(scan, block, part) : scanTaggedValue(scan, block, part);
    case 'lost':
      return scanLost(scan, block);
  }
}

/** The reply is over, and the block is not. */
export function abandonBlock(scan: Scan, block: Block, part: BlockPart): void {
  const problem =
    part.kind === 'value'
      ? valueUnclosed(part)
      : errorAt(
          'block_unclosed',
          block.offset,
          `the request has no end: write ${REQUEST_END} after its last field`,
        );
  endDamaged(scan, block, block.problem ?? problem);
}

function skip(scan: Scan, pattern: RegExp): string {
  pattern.lastIndex = scan.at;
  const found = pattern.exec(scan.text)?.[0] ?? '';
  scan.at += found.length;
  return found;
}

function scanGap(scan: Scan, begun: Block): boolean {
  const block = takeWholeFields(scan, begun);
  skip(scan, SEPARATORS);
  const { text, at } = scan;
  if (at === text.length) {
    goTo(scan, block, GAP);
    return false;
  }
  if (text.startsWith(REQUEST_END, at)) return closeBlock(scan, block);
  if (text.startsWith(REQUEST_START, at)) return endUnclosed(scan, block);
  if (!scan.isLast && text.charAt(at) === '<' && cutMarker(text, at, BLOCK_MARKERS) === at) {
    goTo(scan, block, GAP);
    return false;
  }
  const offset = scan.offsetOf(at);
  if (!KEY_CHARACTER.test(text.charAt(at))) return lose(scan, block, unexpected(offset));
  return goTo(scan, block, { kind: 'key', key: '', offset });
}

/** The short way for plain fields that are all here, as most are; whatever is odd or cut is left for the long way. */
function takeWholeFields(scan: Scan, block: Block): Block {
  const { text } = scan;
  let { fields } = block;
  for (;;) {
    const from = after(text, scan.at, isSeparator);
    const colon = after(text, from, isKeyCharacter);
    if (colon === from || !text.startsWith(PLAIN_HEAD, colon)) break;
    const end = scan.plainCloser.next(colon + PLAIN_HEAD.length);
    if (end === Infinity) break;
    const raw = text.slice(colon + PLAIN_HEAD.length, end);
    if (raw.includes(REQUEST_START) || runsIntoField(raw)) break;
    const field = { key: text.slice(from, colon), value: readValue(raw, ''), offset: scan.offsetOf(from) };
    fields = { field, before: fields };
    scan.at = end + PLAIN_CLOSER.length;
  }
  return fields === block.fields ? block : { ...block, fields };
}

function after(text: string, from: number, belongs: (code: number) => boolean): number {
  let at = from;
  while (belongs(text.charCodeAt(at))) at += 1;
  return at;
}

/** Blank, tab, newline, return or comma; rarer blanks go the long way. */
function isSeparator(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x2c || code === 0x0d || code === 0x09;
}

function isKeyCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d
  );
}

function scanKey(scan: Scan, block: Block, before: string, offset: number): boolean {
  const key = before + skip(scan, KEY);
  const isWhole = scan.at < scan.text.length;
  goTo(scan, block, { kind: isWhole ? 'colon' : 'key', key, offset });
  return isWhole;
}

function scanColon(scan: Scan, block: Block, key: string, offset: number): boolean {
  skip(scan, WHITESPACE);
  if (scan.at === scan.text.length) return false;
  if (scan.text.charAt(scan.at) !== ':') return lose(scan, block, unexpected(offset));
  scan.at += 1;
  return goTo(scan, block, { kind: 'open', key, offset });
}

function scanOpener(scan: Scan, block: Block, key: string, keyOffset: number): boolean {
  skip(scan, WHITESPACE);
  if (scan.at === scan.text.length) return false;
  const offset = scan.offsetOf(scan.at);
  const tag = takeOpener(scan);
  if (tag === 'cut') return false;
  if (tag === null) {
    const message = `the value of "${key}" must stand between 「始」 and 「末」`;
    return lose(scan, block, errorAt('text_unexpected', offset, message));
  }
  return goTo(scan, block, { kind: 'value', key, keyOffset, offset, tag, text: '' });
}

/** Null: there is none here. */
function takeOpener(scan: Scan): ValueTag | 'cut' | null {
  OPENER.lastIndex = scan.at;
  const found = OPENER.exec(scan.text);
  if (found !== null) {
    scan.at += found[0].length;
    return found[1] as ValueTag;
  }
  const rest = scan.text.slice(scan.at, scan.at + LONGEST_OPENER);
  const isCut = !scan.isLast && scan.at + rest.length === scan.text.length && HALF_OPENER.test(rest);
  return isCut ? 'cut' : null;
}

/** Ends at the first closer. A request marker before it means that the value was never closed. */
function scanPlainValue(scan: Scan, block: Block, value: OpenValue): boolean {
  const { text, at } = scan;
  const end = scan.plainCloser.next(at);
  if (end !== Infinity) {
    const raw = text.slice(at, end);
    const start = raw.indexOf(REQUEST_START);
    if (start === -1) return closeValue(scan, block, value, raw);
    scan.at += start;
    return endDamaged(scan, block, block.problem ?? valueUnclosed(value));
  }
  const start = scan.start.next(at);
  if (start !== Infinity) {
    scan.at = start;
    return endDamaged(scan, block, block.problem ?? valueUnclosed(value));
  }
  return readOn(scan, block, value, [closerOf(''), REQUEST_START]);
}

/** Ends at its own closer only: everything else in it is data. */
function scanTaggedValue(scan: Scan, block: Block, value: OpenValue): boolean {
  const closer = closerOf(value.tag);
  const end = scan.text.indexOf(closer, scan.at);
  if (end === -1) return readOn(scan, block, value, [closer]);
  return closeValue(scan, block, value, scan.text.slice(scan.at, end));
}

function readOn(scan: Scan, block: Block, value: OpenValue, markers: readonly string[]): boolean {
  const cut = scan.isLast ? scan.text.length : cutMarker(scan.text, scan.at, markers);
  goTo(scan, block, { ...value, text: value.text + scan.text.slice(scan.at, cut) });
  scan.at = cut;
  return false;
}

function closeValue(scan: Scan, block: Block, value: OpenValue, rest: string): boolean {
  const { key, keyOffset, tag } = value;
  scan.at += rest.length + closerOf(tag).length;
  if (key === null) return goTo(scan, block, LOST);
  const raw = value.text + rest;
  if (tag === '' && runsIntoField(raw)) return lose(scan, block, valueUnclosed(value));
  const field: Field = { key, value: readValue(raw, tag), offset: keyOffset };
  return goTo(scan, { ...block, fields: { field, before: block.fields } }, GAP);
}

function scanLost(scan: Scan, block: Block): boolean {
  for (;;) {
    const { text, at } = scan;
    const end = scan.end.next(at);
    const start = scan.start.next(at);
    const opener = scan.opener.next(at);
    const first = Math.min(end, start, opener);
    if (first === Infinity) {
      scan.at = scan.isLast ? text.length : cutMarker(text, at, LOST_MARKERS);
      return false;
    }
    scan.at = first;
    if (first === end) return closeBlock(scan, block);
    if (first === start) return endUnclosed(scan, block);
    const offset = scan.offsetOf(first);
    const tag = takeOpener(scan);
    if (tag === 'cut') return false;
    if (tag !== null)
      return goTo(scan, block, { kind: 'value', key: null, keyOffset: offset, offset, tag, text: '' });
    scan.at += 1;
  }
}

function goTo(scan: Scan, block: Block, part: BlockPart): true {
  scan.place = { kind: 'block', block, part };
  return true;
}

function lose(scan: Scan, block: Block, problem: ParseError): true {
  return goTo(scan, { ...block, problem }, LOST);
}

function closeBlock(scan: Scan, block: Block): true {
  scan.at += REQUEST_END.length;
  if (block.problem !== null) return endDamaged(scan, block, block.problem);
  const raw = scan.closeBlock(block);
  const items = readBlock({ fields: fieldsOf(block), offset: block.offset, raw });
  for (const item of items) scan.items.push(item);
  return true;
}

function endUnclosed(scan: Scan, block: Block): true {
  const message = `the request has no end before the next one begins: write ${REQUEST_END} after its last field`;
  return endDamaged(scan, block, block.problem ?? errorAt('block_unclosed', block.offset, message));
}

function endDamaged(scan: Scan, block: Block, problem: ParseError): true {
  scan.closeBlock(block);
  const named = (key: string): string | undefined =>
    fieldsOf(block)
      .find((field) => field.key === key)
      ?.value.trim();
  const requestId = named('request_id');
  const toolName = named('tool_name');
  scan.items.push({
    kind: 'error',
    error: {
      ...problem,
      ...(requestId === undefined ? {} : { requestId }),
      ...(toolName === undefined ? {} : { toolName }),
    },
  });
  return true;
}

function fieldsOf(block: Block): Field[] {
  const fields: Field[] = [];
  for (let list = block.fields; list !== null; list = list.before) fields.push(list.field);
  return fields.reverse();
}

function valueUnclosed({ key, offset, tag }: OpenValue): ParseError {
  const of = key === null ? 'a value' : `the value of "${key}"`;
  return errorAt('value_unclosed', offset, `${of} is not closed: write ${closerOf(tag)} right after it`);
}

function unexpected(offset: number): ParseError {
  const message = 'only fields may stand in a request, each written as key:「始」value「末」';
  return errorAt('text_unexpected', offset, message);
}

function errorAt(code: ParseErrorCode, offset: number, message: string): ParseError {
  return { code, message, offset };
}
