import { reason } from '@patchboard/wire';
import { CLOSER_SIGN, closerOf, openerAt, openerOf, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';
import { parseError } from '../parse-error.ts';
import type { ParsedToolRequest, ParseError, ReplyItem } from '../protocol.ts';

/**
 * A request began inside a value that was not closed, so its outer request is damaged. Whether the following requests
 * are inside that value too is known only when its closer arrives, if it does: they are kept until the reply ends.
 */
export interface OpenNesting {
  /** The offset of the request that is certainly inside the value. */
  readonly innerOffset: number;
  /** A persistent list, the latest first: states are immutable. */
  readonly kept: KeptList | null;
}

/** A request or an error in a reply. */
export type Found = Exclude<ReplyItem, { kind: 'text' }>;
type Problem = Extract<ReplyItem, { kind: 'error' }>;

interface KeptList {
  /** Requests and problems, or the text between them. */
  readonly entry: Found | string;
  readonly before: KeptList | null;
}

export function keep(nesting: OpenNesting, entry: KeptList['entry']): OpenNesting {
  return { ...nesting, kept: { entry, before: nesting.kept } };
}

/** Whether the entry must be kept until the end of the reply decides on it. */
export function isDeciding(nesting: OpenNesting | null, entry: KeptList['entry']): nesting is OpenNesting {
  if (nesting === null) return false;
  return nesting.kept !== null || (typeof entry !== 'string' && entry.kind === 'request');
}

/** Called at the end of the reply. A request before an unmatched closer was inside the value. */
export function settleNesting({ kept }: OpenNesting): ReplyItem[] {
  const items: ReplyItem[] = [];
  // Iterates from the end of the reply: the text after a request decides.
  const after: string[] = [];
  let isInside = false;
  let last = -1;
  for (let list = kept; list !== null; list = list.before) {
    const { entry } = list;
    if (typeof entry === 'string') {
      after.push(entry);
      continue;
    }
    if (entry.kind === 'error') {
      items.push(entry);
      continue;
    }
    isInside ||= closesOuterValue(after.splice(0).reverse().join(''));
    if (!isInside) items.push(entry);
    // One problem for all commands of a batch.
    else if (entry.request.offset !== last) items.push(nestedRequest(entry.request));
    last = entry.request.offset;
  }
  return items.reverse();
}

export function nestedRequest(
  found: Pick<ParseError, 'offset'> & Partial<Pick<ParsedToolRequest, 'requestId' | 'toolName'>>,
): Problem {
  const { offset, requestId = '', toolName = '' } = found;
  const why = reason('request_nested', { from: openerOf('ESCAPE'), to: closerOf('ESCAPE') });
  const known = { ...(requestId === '' ? {} : { requestId }), ...(toolName === '' ? {} : { toolName }) };
  return { kind: 'error', error: { ...parseError('request_nested', offset, why), ...known } };
}

const SIGN = /<<<\[(?:END_)?TOOL_REQUEST\]>>>|[「{][始末](?:ESCAPE\d{0,9})?[」}]/gi;

/** Whether the text contains a value closer or an end marker without its opener or start marker before it. */
function closesOuterValue(text: string): boolean {
  let hasStarted = false;
  let open: string | null = null;
  for (const [sign] of text.matchAll(SIGN)) {
    if (open !== null) {
      if (sign.includes(CLOSER_SIGN) && tagOf(sign) === open) open = null;
    } else if (sign === REQUEST_START) {
      hasStarted = true;
    } else if (sign === REQUEST_END) {
      if (!hasStarted) return true;
      hasStarted = false;
    } else if (sign === '「末」') {
      return true;
    } else {
      open = openerAt(sign, 0)?.tag ?? null;
    }
  }
  return false;
}

function tagOf(sign: string): string {
  return sign.slice(2, -1).toUpperCase();
}
