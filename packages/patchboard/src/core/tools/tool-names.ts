import { TOOL_NAME_PATTERN } from '@patchboard/wire';
import type { Digest } from '../ports.ts';

/** Model vendors accept 64 characters; MCP clients that limit server and tool name together to 60 leave about 48. */
export const WIRE_NAME_LENGTH = 48;

/** The limit of earlier versions: agents and stored tools may still use the wire names of that time. */
const EARLIER_WIRE_NAME_LENGTH = 64;

/** Truncates an unchecked name from a request to the length of the longest tool name, for records and messages. */
export function shownName(name: string): string {
  return name.slice(0, 128);
}

/**
 * `.` and `..` are path segments that no client can send in a URL. `__proto__` is not a plain key of a JavaScript object:
 * a program that keeps tools by name would lose it or change a prototype. `.proto.` has it as its wire name.
 */
export function isToolName(name: string): boolean {
  return TOOL_NAME_PATTERN.test(name) && !/^\.+$/.test(name) && plainWireName(name) !== '__proto__';
}

function plainWireName(name: string): string {
  return name.replaceAll('.', '__');
}

/** `patchboard.` and its wire form, in any case, are reserved for tools that the APIs themselves list and run. */
export function isReservedName(name: string): boolean {
  return plainWireName(name).toLowerCase().startsWith('patchboard__');
}

/**
 * Maps `weather.query` to `weather__query`. If that is too long or taken by another tool, the wire name ends in a prefix
 * of the name's hash instead.
 */
export function toWireName(
  name: string,
  isFree: (candidate: string) => boolean,
  digest: Digest,
  maxLength: number = WIRE_NAME_LENGTH,
): string {
  const plain = plainWireName(name);
  if (plain.length <= maxLength && isFree(plain)) return plain;
  const hash = digest.sha256(name);
  for (let length = 8; length <= hash.length; length += 8) {
    const start = plain.slice(0, Math.max(0, maxLength - length - 1));
    const candidate = `${start}_${hash.slice(0, length)}`.slice(-maxLength);
    if (isFree(candidate)) return candidate;
  }
  throw new Error(`no wire name is free for ${name}`);
}

/** Returns the wire name that earlier versions gave the tool, if it is longer than wire names are now; null otherwise. */
export function toEarlierWireName(
  name: string,
  isFree: (candidate: string) => boolean,
  digest: Digest,
): string | null {
  const earlier = toWireName(name, isFree, digest, EARLIER_WIRE_NAME_LENGTH);
  return earlier.length <= WIRE_NAME_LENGTH || earlier === name ? null : earlier;
}

/**
 * Characters that a person cannot see but a model reads, and that can hide instructions in a description: control,
 * zero-width and bidirectional characters, tags, fillers that look like a space, a carriage return outside CRLF, and
 * two variation selectors in a row (a symbol takes one).
 */
const HIDDEN =
  /(?![\ufe00-\ufe0f\n\r\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]|\r(?!\n)|[\ufe00-\ufe0f]{2}/u;

/** CRLF is allowed, because clients on Windows and OpenAPI documents send it. */
export function hasHiddenCharacters(text: string): boolean {
  return HIDDEN.test(text);
}

const ALL_HIDDEN = new RegExp(`${HIDDEN.source}|\\p{Surrogate}`, 'gu');

/** Returns the text as one line without hidden characters and lone surrogates. */
export function visibleLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(ALL_HIDDEN, '').trim();
}
