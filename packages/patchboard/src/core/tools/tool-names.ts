import { TOOL_NAME_PATTERN } from '@patchboard/wire';
import type { Digest } from '../ports.ts';

/** What every model vendor accepts. */
const WIRE_NAME_LENGTH = 64;

/** A name that somebody made up, as it is kept and shown: no longer than any tool's. */
export function shownName(name: string): string {
  return name.slice(0, 128);
}

export const NAME_RULE = 'a name is 1 to 128 of A-Z a-z 0-9 _ . - and not made of dots only';

/** `.` and `..` are steps of a path: no client could send them in a URL. */
export function isToolName(name: string): boolean {
  return TOOL_NAME_PATTERN.test(name) && !/^\.+$/.test(name);
}

/**
 * `weather.query` becomes `weather__query`. A name that is too long, or whose wire form is somebody else's,
 * ends in a piece of its hash instead.
 */
export function toWireName(name: string, isFree: (candidate: string) => boolean, digest: Digest): string {
  const plain = name.replaceAll('.', '__');
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

/** Text that a person cannot see but a model reads: a way to hide instructions in a description. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

export function hasHiddenCharacters(text: string): boolean {
  return HIDDEN.test(text);
}
