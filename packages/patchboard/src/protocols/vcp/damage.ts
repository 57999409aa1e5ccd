import { closerOf, openerOf, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';
import type { ParseError, ParseErrorCode } from '../protocol.ts';
import type { Field } from './block.ts';
import type { Scan } from './scan.ts';
import type { Block, BlockPart, OpenValue } from './state.ts';

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
  report(scan, block, block.problem ?? problem);
}

/** The block ends before `at`, badly. */
export function endDamaged(scan: Scan, block: Block, problem: ParseError): true {
  report(scan, block, problem);
  scan.readAgain(block);
  return true;
}

/** The next request begins at `at`, between two fields. */
export function endUnclosed(scan: Scan, block: Block): true {
  const message = `the request has no end before the next one begins: write ${REQUEST_END} after its last field`;
  const innerOffset = scan.offsetOf(scan.at);
  endDamaged(scan, block, block.problem ?? errorAt('block_unclosed', block.offset, message));
  // What is inside a value stays inside until the end of the request there.
  if (scan.nesting?.innerOffset === block.offset) scan.nesting = { ...scan.nesting, innerOffset };
  return true;
}

/**
 * The next request begins at `at`, before the value is closed. Where an end marker stands in between, the value was
 * left open and the block ended there; otherwise the next request is part of the value.
 */
export function endInValue(scan: Scan, block: Block, value: OpenValue, text: string): true {
  const innerOffset = scan.offsetOf(scan.at);
  endDamaged(scan, block, block.problem ?? valueOpenBeforeRequest(value));
  if (!text.includes(REQUEST_END)) scan.nesting = { kept: scan.nesting?.kept ?? null, innerOffset };
  return true;
}

function report(scan: Scan, block: Block, problem: ParseError): void {
  scan.found([{ kind: 'error', error: { ...problem, ...namesIn(block) } }]);
}

/** What the block says of itself: the answer goes to the request it names. */
export function namesIn({ fields }: Block): Pick<ParseError, 'requestId' | 'toolName'> {
  let names: Pick<ParseError, 'requestId' | 'toolName'> = {};
  // The first of two fields is reached last, and counts.
  for (let list = fields; list !== null; list = list.before) {
    const { key, value } = list.field;
    if (key === 'request_id') names = { ...names, requestId: value.trim() };
    else if (key === 'tool_name') names = { ...names, toolName: value.trim() };
  }
  return names;
}

export function fieldsOf(block: Block): Field[] {
  const fields: Field[] = [];
  for (let list = block.fields; list !== null; list = list.before) fields.push(list.field);
  return fields.reverse();
}

export function valueUnclosed({ key, offset, tag }: OpenValue): ParseError {
  return errorAt(
    'value_unclosed',
    offset,
    `${valueOf(key)} is not closed: write ${closerOf(tag)} right after it`,
  );
}

const OPEN_BEFORE_REQUEST =
  ` is not closed before ${REQUEST_START}: write ${closerOf('')} right after it, or write the value between ` +
  `${openerOf('ESCAPE')} and ${closerOf('ESCAPE')} if the marker is part of it`;

/** A request marker stands in a plain value before its closer. */
function valueOpenBeforeRequest({ key, offset }: OpenValue): ParseError {
  return errorAt('value_unclosed', offset, valueOf(key) + OPEN_BEFORE_REQUEST);
}

function valueOf(key: string | null): string {
  return key === null ? 'a value' : `the value of "${key}"`;
}

export function unexpected(offset: number): ParseError {
  const message = 'only fields may stand in a request, each written as key:「始」value「末」';
  return errorAt('text_unexpected', offset, message);
}

export function errorAt(code: ParseErrorCode, offset: number, message: string): ParseError {
  return { code, message, offset };
}
