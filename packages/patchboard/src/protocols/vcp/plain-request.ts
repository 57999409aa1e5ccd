import {
  closerOf,
  META_KEYS,
  OPENER_SIGN,
  openerOf,
  readValue,
  REQUEST_END,
  REQUEST_START,
} from '@patchboard/wire/vcp';
import type { ParsedToolRequest } from '../protocol.ts';

const MARKER_BEGINNING = '<<<[';
const CLOSER = closerOf('');
const SEPARATORS = '[\\s,，；、]*';
/** Beginnings of keys that are more than the name of an argument. */
const SPECIAL_KEYS = [...META_KEYS, 'arg-', 'command1', '__proto__'].join('|');
const KEY = `(?!${SPECIAL_KEYS})([A-Za-z0-9_-]+)`;
const END = REQUEST_END.replace(/[[\]]/g, '\\$&');
/** A field whose value has neither `<` nor a bracket, as most do, or the end marker. */
const SIMPLE_FIELD_OR_END = new RegExp(
  `${SEPARATORS}(?:${KEY}:${openerOf('')}([^<「${OPENER_SIGN}]*)${CLOSER}|${END})`,
  'y',
);
/** Any other field with a plain value, up to the value. */
const FIELD_BEGINNING = new RegExp(`${SEPARATORS}${KEY}\\s*:\\s*${openerOf('')}`, 'y');

/**
 * Fast path for the request whose start marker is at `start`. `textOffset`: the offset of the text in the reply.
 *
 * Invariant: it returns exactly the request that the general parser reads there, or null. It returns null at the first
 * thing that is incomplete, damaged or less common, and the general parser reads the request from its beginning.
 *
 * It reads nothing behind the first marker after `start`, so that the attempts at all requests of a text read each
 * character a bounded number of times.
 */
export function readPlainRequest(text: string, start: number, textOffset: number): ParsedToolRequest | null {
  let at = start + REQUEST_START.length;
  const limit = text.indexOf(MARKER_BEGINNING, at);
  if (limit === -1) return null;
  const args: Record<string, string> = {};
  let toolName: string | null = null;
  let requestId: string | null = null;
  let command: string | null = null;
  let fields = 0;
  for (;;) {
    SIMPLE_FIELD_OR_END.lastIndex = at;
    const found = SIMPLE_FIELD_OR_END.exec(text) ?? fieldBeginningAt(text, at);
    if (found === null) return null;
    at += found[0].length;
    const key = found[1];
    if (key === undefined) break;
    let raw: string | null | undefined = found[2];
    if (raw === undefined) {
      raw = plainValueAt(text, at, limit);
      if (raw === null) return null;
      at += raw.length + CLOSER.length;
    }
    const value = readValue(raw, '');
    if (key === 'tool_name') toolName = value.trim();
    else if (key === 'request_id') requestId = value.trim();
    else if (key === 'command') command = value;
    else args[key] = value;
    fields += 1;
  }
  const given = [toolName, requestId, command].filter((value) => value !== null).length;
  const hasDuplicate = given + Object.keys(args).length < fields;
  if (hasDuplicate || toolName === null || toolName === '') return null;
  const rawBlock = text.slice(start, at);
  const request = { requestId: requestId ?? '', toolName, rawBlock, args, offset: textOffset + start };
  return command === null ? request : { ...request, command };
}

function fieldBeginningAt(text: string, at: number): RegExpExecArray | null {
  FIELD_BEGINNING.lastIndex = at;
  return FIELD_BEGINNING.exec(text);
}

/** The text from `from` to its closer. Null if there is none before `limit`, or if the value may have been left open. */
function plainValueAt(text: string, from: number, limit: number): string | null {
  const rest = text.slice(from, limit);
  const end = rest.indexOf(CLOSER);
  if (end === -1) return null;
  const raw = rest.slice(0, end);
  return raw.includes(OPENER_SIGN) ? null : raw;
}
