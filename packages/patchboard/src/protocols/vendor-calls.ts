import { reason, type Reason } from '@patchboard/wire';
import { parseGuardedJson } from '../core/json/json-guard.ts';
import type { JsonLimits } from '../core/json/json-scanner.ts';
import { isRecord } from '@patchboard/wire/json';
import { parseError } from './parse-error.ts';
import type { ParseError, ReplyItem } from './protocol.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Limits on a vendor's response, and on the arguments in it. */
export const LIMITS: JsonLimits = { depth: 128, values: 1_000_000 };

export function invalid(why: Reason, offset: number): ReplyItem {
  return damage(parseError('reply_invalid', offset, why));
}

function damage(error: ParseError): ReplyItem {
  return { kind: 'error', error };
}

/** A call in a vendor's response. */
export interface VendorCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, or an object if the vendor sends one. */
  readonly input: string | Json;
  readonly offset: number;
}

/** Returns a request, or an error if the call is invalid. Absent arguments are an empty object. */
export function requestFrom({ id, name, input, offset }: VendorCall): ReplyItem {
  const known = { ...(id === '' ? {} : { requestId: id }), ...(name === '' ? {} : { toolName: name }) };
  if (name === '')
    return damage({ ...parseError('tool_name_missing', offset, reason('call_without_tool')), ...known });
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const parsed = parseGuardedJson(text.trim() === '' ? '{}' : text, LIMITS);
  if (!parsed.ok || !isRecord(parsed.value)) {
    const problem = parsed.ok
      ? reason('json_arguments_not_object')
      : reason('json_at_column', { problem: [parsed.reason], column: parsed.column });
    const why = reason('arguments_not_json', { tool: name, problem: [problem] });
    return damage({ ...parseError('arguments_invalid', offset, why), ...known });
  }
  return {
    kind: 'request',
    request: { requestId: id, toolName: name, rawBlock: text, args: parsed.value, offset },
  };
}

export function cutOff({ id, name, offset }: Omit<VendorCall, 'input'>): ReplyItem {
  const why = name === '' ? reason('reply_cut_unnamed') : reason('reply_cut', { tool: name });
  const known = { ...(id === '' ? {} : { requestId: id }), ...(name === '' ? {} : { toolName: name }) };
  return damage({ ...parseError('reply_cut', offset, why), ...known });
}

/** Returns no item for an empty text. */
export function textItem(text: unknown): ReplyItem[] {
  return typeof text === 'string' && text !== '' ? [{ kind: 'text', text }] : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function recordsIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/**
 * Returns a function that finds the approximate offset of a call in the text, by its id. Call it in the order of the
 * calls: the text is searched once. After an id that is not found, the offset of the last one is returned.
 */
export function idFinder(text: string): (id: string) => number {
  let at = -1;
  let isLost = false;
  return (id) => {
    if (id !== '' && !isLost) {
      const found = text.indexOf(JSON.stringify(id), at + 1);
      if (found === -1) isLost = true;
      else at = found;
    }
    return Math.max(0, at);
  };
}
