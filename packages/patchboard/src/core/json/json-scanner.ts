import { reason } from '@patchboard/wire';
import { KeyStack } from './json-key-stack.ts';
import {
  codeAt,
  endOfPlainString,
  endOfScalar,
  endOfString,
  Refusal,
  skipSpace,
  unexpected,
} from './json-tokens.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface JsonLimits {
  /** Maximum nesting of objects and arrays. */
  readonly depth: number;
  /** Maximum number of strings, numbers, literals, objects and arrays together. */
  readonly values: number;
}

/**
 * Scans a JSON text in one pass, with an explicit stack instead of recursion. Accepts exactly the texts that
 * `JSON.parse` accepts, except for those that `parseGuardedJson` refuses, and returns the number of values.
 */
export function countValues(text: string, limits: JsonLimits): number | Refusal {
  try {
    return scan(text, limits);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function scan(text: string, limits: JsonLimits): number {
  const keys = new KeyStack(text);
  /** The closing bracket of each open container; the first entry is for the whole text. */
  const closers = [0];
  let depth = 0;
  let values = 0;
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    values += 1;
    if (values > limits.values)
      throw new Refusal(reason('json_too_many_values', { count: limits.values }), at);
    const code = codeAt(text, at);
    const closer = code === OPEN_OBJECT ? CLOSE_OBJECT : code === OPEN_ARRAY ? CLOSE_ARRAY : 0;
    if (closer === 0) {
      at = code === QUOTE ? endOfString(text, at + 1) + 1 : endOfScalar(text, at);
    } else {
      if (depth >= limits.depth) throw new Refusal(reason('json_too_deep', { depth: limits.depth }), at);
      depth += 1;
      closers[depth] = closer;
      keys.open(depth);
      at = skipSpace(text, at + 1);
      if (codeAt(text, at) !== closer) {
        if (closer === CLOSE_OBJECT) at = readKey(text, at, keys);
        continue;
      }
    }
    // At the end of a value, or at the closing bracket of an empty container.
    for (;;) {
      at = skipSpace(text, at);
      const next = codeAt(text, at);
      if (next !== closers[depth] || depth === 0) break;
      keys.close(depth);
      depth -= 1;
      at += 1;
    }
    if (depth === 0) {
      if (at < text.length) throw unexpected(text, at, reason('json_wanted_end'));
      return values;
    }
    const isObject = closers[depth] === CLOSE_OBJECT;
    if (codeAt(text, at) !== COMMA)
      throw unexpected(text, at, reason('json_wanted_comma', { closer: isObject ? '}' : ']' }));
    at += 1;
    if (isObject) at = readKey(text, skipSpace(text, at), keys);
  }
}

/** Returns the index after the colon. */
function readKey(text: string, at: number, keys: KeyStack): number {
  if (codeAt(text, at) !== QUOTE) throw unexpected(text, at, reason('json_wanted_key'));
  const plainEnd = endOfPlainString(text, at + 1);
  const end = plainEnd === -1 ? endOfString(text, at + 1) : plainEnd;
  const problem = keys.add(at + 1, end, plainEnd !== -1);
  if (problem !== null) throw new Refusal(problem, at);
  const colon = skipSpace(text, end + 1);
  if (codeAt(text, colon) !== COLON) throw unexpected(text, colon, reason('json_wanted_colon'));
  return colon + 1;
}
