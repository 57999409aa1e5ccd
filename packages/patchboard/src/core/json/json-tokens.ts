import { reason, type Reason } from '@patchboard/wire';

const QUOTE = 0x22;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const FIRST_SURROGATE = 0xd800;
const FIRST_LOW_SURROGATE = 0xdc00;
const LAST_SURROGATE = 0xdfff;
/** Every integer of up to this many digits is exact. */
const SAFE_DIGITS = 15;

/** Thrown and caught inside the scanner only: exits from any depth, at no cost for valid texts. */
export class Refusal {
  readonly reason: Reason;
  readonly offset: number;
  constructor(why: Reason, offset: number) {
    this.reason = why;
    this.offset = offset;
  }
}

// Plain functions from index to index instead of methods with a cursor: the optimiser keeps the index in a register,
// which made the scan of a large text about three times as fast.

/** The char code at an index, -1 past the end. Calling `charCodeAt` past the end would deoptimise later calls. */
export function codeAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : -1;
}

/** The first index from `at` on that is not white space. */
export function skipSpace(text: string, at: number): number {
  for (let place = at; ; place += 1) {
    const code = codeAt(text, place);
    if (code > 0x20) return place;
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return place;
  }
}

/** The index of the closing quote, if the string from `at` has only plain characters; else -1. */
export function endOfPlainString(text: string, at: number): number {
  for (let place = at; ; place += 1) {
    const code = codeAt(text, place);
    if (code === QUOTE) return place;
    if (code === BACKSLASH || code < 0x20 || code >= FIRST_SURROGATE) return -1;
  }
}

/** The index of the closing quote of the string whose content starts at `at`. */
export function endOfString(text: string, at: number): number {
  for (let place = at; place < text.length;) {
    const code = codeAt(text, place);
    if (code === QUOTE) return place;
    if (code === BACKSLASH) {
      place = endOfEscape(text, place);
    } else if (code >= FIRST_SURROGATE && code <= LAST_SURROGATE) {
      checkPair(place, code, codeAt(text, place + 1));
      place += 2;
    } else if (code < 0x20) {
      throw new Refusal(reason('json_control_character'), place);
    } else {
      place += 1;
    }
  }
  throw new Refusal(reason('json_string_unended'), text.length);
}

function endOfEscape(text: string, at: number): number {
  const code = codeAt(text, at + 1);
  if (code !== LETTER_U) {
    if (!SIMPLE_ESCAPES.has(code)) throw badEscape(text, at);
    return at + 2;
  }
  const unit = hexUnit(text, at);
  if (unit < FIRST_SURROGATE || unit > LAST_SURROGATE) return at + 6;
  const isPaired = codeAt(text, at + 6) === BACKSLASH && codeAt(text, at + 7) === LETTER_U;
  checkPair(at, unit, isPaired ? hexUnit(text, at + 6) : -1);
  return at + 12;
}

/** The codes of `"\/bfnrt`. */
const SIMPLE_ESCAPES: ReadonlySet<number> = new Set([QUOTE, BACKSLASH, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]);

function hexUnit(text: string, at: number): number {
  let unit = 0;
  for (let place = at + 2; place < at + 6; place += 1) {
    const code = codeAt(text, place);
    const letter = code | 0x20;
    if (isDigit(code)) unit = unit * 16 + code - ZERO;
    else if (letter >= 0x61 && letter <= 0x66) unit = unit * 16 + letter - 0x57;
    else throw badEscape(text, at);
  }
  return unit;
}

function badEscape(text: string, at: number): Refusal {
  return new Refusal(reason(at + 1 < text.length ? 'json_bad_escape' : 'json_string_unended'), at);
}

function checkPair(at: number, first: number, second: number): void {
  if (first < FIRST_LOW_SURROGATE && second >= FIRST_LOW_SURROGATE && second <= LAST_SURROGATE) return;
  throw new Refusal(reason('json_half_surrogate'), at);
}

/** The index after the number, `true`, `false` or `null` at `at`. */
export function endOfScalar(text: string, at: number): number {
  const code = codeAt(text, at);
  if (code === MINUS || isDigit(code)) return endOfNumber(text, at);
  if (text.startsWith('true', at) || text.startsWith('null', at)) return at + 4;
  if (text.startsWith('false', at)) return at + 5;
  throw unexpected(text, at, reason('json_wanted_value'));
}

function endOfNumber(text: string, at: number): number {
  const first = codeAt(text, at) === MINUS ? at + 1 : at;
  const whole = endOfDigits(text, first);
  if (whole > first + 1 && codeAt(text, first) === ZERO) {
    throw new Refusal(reason('json_leading_zero'), at);
  }
  let end = whole;
  if (codeAt(text, end) === DOT) end = endOfDigits(text, end + 1);
  const hasExponent = (codeAt(text, end) | 0x20) === 0x65;
  if (hasExponent) {
    const sign = codeAt(text, end + 1);
    end = endOfDigits(text, sign === MINUS || sign === 0x2b ? end + 2 : end + 1);
  }
  const hasManyDigits = whole - first > SAFE_DIGITS;
  if (hasExponent || hasManyDigits) checkExact(text, at, end, hasManyDigits);
  return end;
}

/** Refuses integers written out in full that lose digits. `1e300` is approximate by notation, and accepted. */
function checkExact(text: string, start: number, end: number, hasManyDigits: boolean): void {
  const value = Number(text.slice(start, end));
  if (!Number.isFinite(value)) throw new Refusal(reason('json_number_too_large'), start);
  if (!hasManyDigits || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return;
  throw new Refusal(reason('json_number_loses_digits'), start);
}

function endOfDigits(text: string, at: number): number {
  let end = at;
  while (isDigit(codeAt(text, end))) end += 1;
  if (end === at) throw unexpected(text, at, reason('json_wanted_digit'));
  return end;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

export function unexpected(text: string, at: number, wanted: Reason): Refusal {
  if (at >= text.length) return new Refusal(reason('json_text_ends', { wanted: [wanted] }), text.length);
  const found = String.fromCodePoint(text.codePointAt(at) ?? 0xfffd);
  return new Refusal(reason('json_unexpected', { found: JSON.stringify(found), wanted: [wanted] }), at);
}
