import { reason } from '@patchboard/wire';
import { CLOSER_SIGN, closerOf, openerAt, openerOf, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';
import { parseError } from '../parse-error.ts';
import type { ParsedToolRequest, ParseError, ReplyItem } from '../protocol.ts';

/**
 * A request began inside a value that was not closed, so its outer request is damaged. Whether the requests after it
 * stand in that value as well shows only when its closer comes, if it ever does: they are kept until the reply ends.
 */
export interface OpenNesting {
  /** Where the request begins that certainly stands inside the value. */
  readonly innerOffset: number;
  /** The latest first. Persistent, as old states stay good. */
  readonly kept: KeptList | null;
}

/** What is found in a reply besides its text. */
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

/** Whether the end of the reply has to decide on something before it is told. */
export function isDeciding(nesting: OpenNesting | null, entry: KeptList['entry']): nesting is OpenNesting {
  if (nesting === null) return false;
  return nesting.kept !== null || (typeof entry !== 'string' && entry.kind === 'request');
}

/** The reply is over. A request before a closer that closes nothing else stood inside the value. */
export function settleNesting({ kept }: OpenNesting): ReplyItem[] {
  const items: ReplyItem[] = [];
  // From the end of the reply: the text after a request decides.
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

/** Whether a value closer or an end marker stands in the text without its opener or start marker before it. */
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
