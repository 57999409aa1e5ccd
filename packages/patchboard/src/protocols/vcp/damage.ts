import { reason } from '@patchboard/wire';
import { closerOf, openerOf, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';
import { parseError } from '../parse-error.ts';
import type { ParseError } from '../protocol.ts';
import type { Field } from './block.ts';
import type { Scan } from './scan.ts';
import type { Block, BlockPart, OpenValue } from './state.ts';

/** The reply ended within the block. */
export function abandonBlock(scan: Scan, block: Block, part: BlockPart): void {
  const problem =
    part.kind === 'value'
      ? valueUnclosed(part)
      : parseError('block_unclosed', block.offset, reason('request_unended', { mark: REQUEST_END }));
  report(scan, block, block.problem ?? problem);
}

/** Ends a damaged block before `at`. */
export function endDamaged(scan: Scan, block: Block, problem: ParseError): true {
  report(scan, block, problem);
  scan.readAgain(block);
  return true;
}

/** The next request begins at `at`, between two fields. */
export function endUnclosed(scan: Scan, block: Block): true {
  const why = reason('request_runs_on', { mark: REQUEST_END });
  const innerOffset = scan.offsetOf(scan.at);
  endDamaged(scan, block, block.problem ?? parseError('block_unclosed', block.offset, why));
  // A request inside a value stays inside until its end.
  if (scan.nesting?.innerOffset === block.offset) scan.nesting = { ...scan.nesting, innerOffset };
  return true;
}

/**
 * The next request begins at `at`, before the value is closed. If there is an end marker in between, the value was left
 * open and the block ended there; otherwise the next request is part of the value.
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

/** The request id and tool name of the block, for the error that refers to it. */
export function namesIn({ fields }: Block): Pick<ParseError, 'requestId' | 'toolName'> {
  let names: Pick<ParseError, 'requestId' | 'toolName'> = {};
  // The list is in reverse order: the first of two equal fields is visited last, and is used.
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
  const mark = closerOf(tag);
  const why =
    key === null ? reason('some_value_unclosed', { mark }) : reason('value_unclosed', { key, mark });
  return parseError('value_unclosed', offset, why);
}

const OPEN_BEFORE_REQUEST = {
  start: REQUEST_START,
  mark: closerOf(''),
  from: openerOf('ESCAPE'),
  to: closerOf('ESCAPE'),
} as const;

/** A plain value contains a request marker before its closer. */
function valueOpenBeforeRequest({ key, offset }: OpenValue): ParseError {
  const why =
    key === null
      ? reason('some_value_open_before_request', OPEN_BEFORE_REQUEST)
      : reason('value_open_before_request', { key, ...OPEN_BEFORE_REQUEST });
  return parseError('value_unclosed', offset, why);
}

export function unexpected(offset: number): ParseError {
  const field = `key:${openerOf('')}value${closerOf('')}`;
  return parseError('text_unexpected', offset, reason('text_between_fields', { field }));
}
