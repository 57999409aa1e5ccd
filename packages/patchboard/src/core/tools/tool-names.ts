import { TOOL_NAME_PATTERN } from '@patchboard/wire';
import type { Digest } from '../ports.ts';

/** What every model vendor accepts. */
const WIRE_NAME_LENGTH = 64;

/** A name that somebody made up, as it is kept and shown: no longer than any tool's. */
export function shownName(name: string): string {
  return name.slice(0, 128);
}

export const NAME_RULE = 'a name is 1 to 128 of A-Z a-z 0-9 _ . -, not made of dots only, and not __proto__';

/**
 * `.` and `..` are steps of a path: no client could send them in a URL. `__proto__` is no plain key of a JavaScript
 * object, so that a program which keeps tools by name would lose it or worse; `.proto.` has it for a wire name.
 */
export function isToolName(name: string): boolean {
  return TOOL_NAME_PATTERN.test(name) && !/^\.+$/.test(name) && plainWireName(name) !== '__proto__';
}

function plainWireName(name: string): string {
  return name.replaceAll('.', '__');
}

/**
 * `weather.query` becomes `weather__query`. A name that is too long, or whose wire form is somebody else's,
 * ends in a piece of its hash instead.
 */
export function toWireName(name: string, isFree: (candidate: string) => boolean, digest: Digest): string {
  const plain = plainWireName(name);
  if (plain.length <= WIRE_NAME_LENGTH && isFree(plain)) return plain;
  const hash = digest.sha256(name);
  for (let length = 8; length <= hash.length; length += 8) {
    const candidate =
      `${plain.slice(0, Math.max(0, WIRE_NAME_LENGTH - length - 1))}_${hash.slice(0, length)}`.slice(
        -WIRE_NAME_LENGTH,
      );
    if (isFree(candidate)) return candidate;
  }
  throw new Error(`no wire name is free for ${name}`);
}

/**
 * Text that a person cannot see but a model reads: a way to hide instructions in a description. Controls, zero-width
 * and bidirectional characters, tags, fillers that look like a space; a carriage return that belongs to no line break;
 * and variation selectors in a row, of which a symbol takes one.
 */
const HIDDEN =
  /(?![\ufe00-\ufe0f\n\r\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]|\r(?!\n)|[\ufe00-\ufe0f]{2}/u;

export const HIDDEN_RULE = 'holds control, bidirectional, zero-width or filler characters';

/** CRLF is read as LF: clients on Windows and OpenAPI documents send it. */
export function hasHiddenCharacters(text: string): boolean {
  return HIDDEN.test(text);
}
