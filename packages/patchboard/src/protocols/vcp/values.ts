import {
  closerOf,
  findTaggedCloser,
  LONGEST_OPENER,
  openerAt,
  readValue,
  REQUEST_START,
  runsIntoField,
  type ValueTag,
} from '@patchboard/wire/vcp';
import type { ParseError } from '../protocol.ts';
import type { Field } from './block.ts';
import { endInValue, valueUnclosed } from './damage.ts';
import { cutMarker, cutPattern } from './finder.ts';
import type { Scan } from './scan.ts';
import { GAP, DAMAGED, type Block, type BlockPart, type OpenValue } from './state.ts';

export const HALF_OPENER: RegExp = /^[「{](?:始(?:E(?:S(?:C(?:A(?:P(?:E\d{0,9})?)?)?)?)?)?)?$/i;
const HALF_CLOSER = /^[「{](?:末(?:E(?:S(?:C(?:A(?:P(?:E\d{0,9})?)?)?)?)?)?)?$/i;
const PLAIN_CLOSER = closerOf('');
const PLAIN_MARKERS = [PLAIN_CLOSER, REQUEST_START];
const LONGEST_CLOSER = LONGEST_OPENER;

/** Returns null if there is no opener here. */
export function takeOpener(scan: Scan): ValueTag | 'cut' | null {
  const opener = openerAt(scan.text, scan.at);
  if (opener !== null) {
    scan.at += opener.length;
    return opener.tag;
  }
  const rest = scan.text.slice(scan.at, scan.at + LONGEST_OPENER);
  const isCut = !scan.isLast && scan.at + rest.length === scan.text.length && HALF_OPENER.test(rest);
  return isCut ? 'cut' : null;
}

export function scanValue(scan: Scan, block: Block, value: OpenValue): boolean {
  return value.tag === ''
    ? scanPlainValue(scan, block, value)
    : scanTaggedValue(scan, block, value, value.tag);
}

/** A plain value ends at the first closer. A request marker before it means that the value was not closed. */
function scanPlainValue(scan: Scan, block: Block, value: OpenValue): boolean {
  const { text, at } = scan;
  const end = scan.find.plainCloser.next(at);
  let start = Infinity;
  if (end === Infinity) {
    start = scan.find.start.next(at);
    if (start === Infinity) return readOn(scan, block, value, cutMarker(text, at, PLAIN_MARKERS));
  } else {
    const rest = text.slice(at, end);
    const within = rest.indexOf(REQUEST_START);
    if (within === -1) return closeValue(scan, block, value, rest, PLAIN_CLOSER.length);
    start = at + within;
  }
  scan.at = start;
  return endInValue(scan, block, value, value.text + text.slice(at, start));
}

/** A tagged value ends at its own closer only: everything else in it is data. */
function scanTaggedValue(scan: Scan, block: Block, value: OpenValue, tag: Exclude<ValueTag, ''>): boolean {
  const { text, at } = scan;
  const closer = findTaggedCloser(text, tag, at);
  if (closer === null) return readOn(scan, block, value, cutPattern(text, at, HALF_CLOSER, LONGEST_CLOSER));
  return closeValue(scan, block, value, text.slice(at, closer.at), closer.length);
}

/** `cut`: the index from which on the text may be the beginning of a marker. */
function readOn(scan: Scan, block: Block, value: OpenValue, cut: number): boolean {
  const end = scan.isLast ? scan.text.length : cut;
  goTo(scan, block, { ...value, text: value.text + scan.text.slice(scan.at, end) });
  scan.at = end;
  return false;
}

function closeValue(scan: Scan, block: Block, value: OpenValue, rest: string, closerLength: number): boolean {
  const { key, keyOffset, tag } = value;
  scan.at += rest.length + closerLength;
  if (key === null) return goTo(scan, block, DAMAGED);
  const raw = value.text + rest;
  if (tag === '' && runsIntoField(raw)) return markDamaged(scan, block, valueUnclosed(value));
  const field: Field = { key, value: readValue(raw, tag), offset: keyOffset };
  return goTo(scan, { ...block, fields: { field, before: block.fields } }, GAP);
}

export function goTo(scan: Scan, block: Block, part: BlockPart): true {
  scan.place = { kind: 'block', block, part };
  return true;
}

export function markDamaged(scan: Scan, block: Block, problem: ParseError): true {
  return goTo(scan, { ...block, problem }, DAMAGED);
}
