import { reason } from '@patchboard/wire';
import { argumentOfKey, closerOf, isMetaKey, openerOf } from '@patchboard/wire/vcp';
import { parseError } from '../parse-error.ts';
import type { ParsedToolRequest, ParseError } from '../protocol.ts';
import type { Found } from './nesting.ts';

export interface Field {
  readonly key: string;
  readonly value: string;
  /** The offset of the key. */
  readonly offset: number;
}

export interface WholeBlock {
  readonly fields: readonly Field[];
  readonly offset: number;
  readonly raw: string;
}

/** Every command of a batch gets a copy of the shared fields, so a short text without bounds could expand to a long one. */
const MAX_COMMANDS = 100;
/** Total characters of these copies. */
const MAX_SHARED = 1_000_000;

/** Returns the requests of a block: one, or several in a batch; or an error. */
export function readBlock(block: WholeBlock): Found[] {
  const keys = new Map<string, Field>();
  for (const field of block.fields) {
    if (keys.has(field.key)) return [damaged(keys, twice(field))];
    if (argumentOfKey(field.key) === '__proto__') return [damaged(keys, forbidden(field))];
    keys.set(field.key, field);
  }
  if (textOf(keys, 'tool_name') === '') {
    const why = reason('request_without_tool', { field: `tool_name:${openerOf('')}NAME${closerOf('')}` });
    return [damaged(keys, parseError('tool_name_missing', block.offset, why))];
  }
  if (!keys.has('command1')) return [requestOf(block, block.fields)];
  return readBatch(block, keys);
}

/** `command1, path1, command2, path2`: a number belongs to the batch only if there is a command with that number. */
function readBatch(block: WholeBlock, keys: ReadonlyMap<string, Field>): Found[] {
  const shared: Field[] = [];
  const parts = new Map<string, Field[]>();
  for (const field of block.fields) {
    const number = batchNumber(field.key, keys);
    if (number === null) {
      shared.push(field);
      continue;
    }
    const key = field.key.slice(0, -number.length);
    if (argumentOfKey(key) === '__proto__') return [damaged(keys, forbidden(field))];
    const part = parts.get(number) ?? [];
    parts.set(number, part);
    part.push({ ...field, key });
  }
  if (parts.size > MAX_COMMANDS) {
    const why = reason('batch_too_many', { count: MAX_COMMANDS });
    return [damaged(keys, parseError('batch_too_large', block.offset, why))];
  }
  const copied = parts.size * shared.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  if (copied > MAX_SHARED) {
    const why = reason('batch_too_long', { count: MAX_SHARED });
    return [damaged(keys, parseError('batch_too_large', block.offset, why))];
  }
  const requests: Found[] = [];
  for (const number of [...parts.keys()].sort((a, b) => Number(a) - Number(b))) {
    const own = parts.get(number) ?? [];
    const taken = new Set(own.map(({ key }) => key));
    const clash = shared.find(({ key }) => taken.has(key));
    if (clash !== undefined) return [damaged(keys, twice(clash))];
    requests.push(requestOf(block, [...shared, ...own]));
  }
  return requests;
}

/** The longest number at the end of the key that is also the number of a command. */
function batchNumber(key: string, keys: ReadonlyMap<string, Field>): string | null {
  const digits = /\d{1,9}$/.exec(key)?.[0] ?? '';
  for (let cut = 0; cut < digits.length; cut += 1) {
    const number = digits.slice(cut);
    if (number.length < key.length && !number.startsWith('0') && keys.has(`command${number}`)) return number;
  }
  return null;
}

function requestOf({ offset, raw }: WholeBlock, fields: readonly Field[]): Found {
  const args: Record<string, string> = {};
  let toolName = '';
  let requestId = '';
  let command: string | null = null;
  let noReply = false;
  let meta: Record<string, string> | null = null;
  for (const { key, value } of fields) {
    if (key === 'tool_name') toolName = value.trim();
    else if (key === 'request_id') requestId = value.trim();
    else if (key === 'command') command = value;
    else if (key === 'archery' && value.trim() === 'no_reply') noReply = true;
    else if (isMetaKey(key)) (meta ??= {})[key] = value;
    else args[argumentOfKey(key)] = value;
  }
  const request: ParsedToolRequest = {
    requestId,
    toolName,
    ...(command === null ? null : { command }),
    rawBlock: raw,
    args,
    ...(meta === null ? null : { meta }),
    ...(noReply ? { noReply } : null),
    offset,
  };
  return { kind: 'request', request };
}

function twice({ key, offset }: Field): ParseError {
  return parseError('key_duplicate', offset, reason('field_given_twice', { key }));
}

/** `__proto__` is refused as in JSON arguments. */
function forbidden({ key, offset }: Field): ParseError {
  return parseError('text_unexpected', offset, reason('argument_name_forbidden', { key }));
}

function damaged(keys: ReadonlyMap<string, Field>, error: ParseError): Found {
  const requestId = textOf(keys, 'request_id');
  const toolName = textOf(keys, 'tool_name');
  return {
    kind: 'error',
    error: {
      ...error,
      ...(requestId === '' ? {} : { requestId }),
      ...(toolName === '' ? {} : { toolName }),
    },
  };
}

function textOf(keys: ReadonlyMap<string, Field>, key: string): string {
  return keys.get(key)?.value.trim() ?? '';
}
