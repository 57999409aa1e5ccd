import { reason } from '@patchboard/wire';
import { closerOf, LONGEST_OPENER, openerOf, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';
import { readBlock } from './block.ts';
import { parseError } from '../parse-error.ts';
import { endDamaged, endUnclosed, fieldsOf, namesIn, unexpected } from './damage.ts';
import { cutMarker, cutPattern } from './finder.ts';
import { nestedRequest } from './nesting.ts';
import type { Scan } from './scan.ts';
import { GAP, type Block, type BlockPart } from './state.ts';
import { goTo, HALF_OPENER, markDamaged, scanValue, takeOpener } from './values.ts';

const BLOCK_MARKERS = [REQUEST_END, REQUEST_START];
const KEY_CHARACTER = /[A-Za-z0-9_-]/;
const KEY = /[A-Za-z0-9_-]*/y;
const WHITESPACE = /\s*/y;
const SEPARATORS = /[\s,，；、]*/y;

/** Continues inside a block. Returns false if more text is needed. */
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
      return scanValue(scan, block, part);
    case 'damaged':
      return scanDamaged(scan, block);
  }
}

/** `pattern` is sticky, and matches the empty text too. */
function skip(scan: Scan, pattern: RegExp): void {
  pattern.lastIndex = scan.at;
  pattern.test(scan.text);
  scan.at = pattern.lastIndex;
}

function scanGap(scan: Scan, block: Block): boolean {
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
  if (!KEY_CHARACTER.test(text.charAt(at))) return markDamaged(scan, block, unexpected(offset));
  return goTo(scan, block, { kind: 'key', key: '', offset });
}

function scanKey(scan: Scan, block: Block, before: string, offset: number): boolean {
  const from = scan.at;
  skip(scan, KEY);
  const key = before + scan.text.slice(from, scan.at);
  const isWhole = scan.at < scan.text.length;
  goTo(scan, block, { kind: isWhole ? 'colon' : 'key', key, offset });
  return isWhole;
}

function scanColon(scan: Scan, block: Block, key: string, offset: number): boolean {
  skip(scan, WHITESPACE);
  if (scan.at === scan.text.length) return false;
  if (scan.text.charAt(scan.at) !== ':') return markDamaged(scan, block, unexpected(offset));
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
    const why = reason('value_not_enclosed', { key, from: openerOf(''), to: closerOf('') });
    return markDamaged(scan, block, parseError('text_unexpected', offset, why));
  }
  return goTo(scan, block, { kind: 'value', key, keyOffset, offset, tag, text: '' });
}

function scanDamaged(scan: Scan, block: Block): boolean {
  const { text, find } = scan;
  for (;;) {
    const { at } = scan;
    const end = find.end.next(at);
    const start = find.start.next(at);
    const opener = find.openerSign.next(at + 1) - 1;
    const first = Math.min(end, start, opener);
    if (first === Infinity) {
      scan.at = scan.isLast ? text.length : cutDamaged(text, at);
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

/** The index where the text may end within a marker that matters in a damaged block. */
function cutDamaged(text: string, from: number): number {
  return Math.min(cutMarker(text, from, BLOCK_MARKERS), cutPattern(text, from, HALF_OPENER, LONGEST_OPENER));
}

function closeBlock(scan: Scan, block: Block): true {
  scan.at += REQUEST_END.length;
  if (block.problem !== null) return endDamaged(scan, block, block.problem);
  const raw = scan.closeBlock(block);
  const isNested = scan.nesting?.innerOffset === block.offset;
  scan.found(
    isNested
      ? [nestedRequest({ offset: block.offset, ...namesIn(block) })]
      : readBlock({ fields: fieldsOf(block), offset: block.offset, raw }),
  );
  return true;
}
