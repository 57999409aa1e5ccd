import { stripVTControlCharacters } from 'node:util';

const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

/**
 * Escapes control characters and bidirectional marks in untrusted text, which could otherwise repaint or reorder the
 * terminal.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/** Escapes each UTF-16 code unit as in JSON. */
function escaped(character: string): string {
  let text = '';
  for (let index = 0; index < character.length; index += 1) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return text;
}

/** Invisible characters, and blanks that look like a space. Not U+3000, which Chinese text uses. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800]/gu;

/**
 * Formats JSON for a decision: control characters and invisible characters (zero-width characters, tags, variation
 * selectors) are escaped, so that nothing is hidden.
 */
export function verbatimJson(value: unknown): string {
  return escapeInvisible(JSON.stringify(value, null, 2) ?? 'null');
}

/** `verbatimJson` on one line. */
export function verbatimJsonLine(value: unknown): string {
  return escapeInvisible(JSON.stringify(value) ?? 'null');
}

/** Keeps line ends: in JSON and YAML they are layout. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (character) => (character === '\n' ? character : escaped(character)));
}

/** JSON escapes only control characters below U+0020; this also escapes the others. */
export function printableJson(value: unknown): string {
  return printable(JSON.stringify(value, null, 2) ?? 'null');
}

/** Returns the number of columns of the text, without colour sequences. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (WIDE.test(character)) width += 2;
    else if (!ZERO_WIDTH.test(character)) width += 1;
  }
  return width;
}

/** Breaks the text into lines of at most `width` columns, without losing a character. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    let used = 0;
    for (const character of line) {
      const columns = widthOf(character);
      if (used + columns > width && current !== '') {
        lines.push(current);
        current = '';
        used = 0;
      }
      current += character;
      used += columns;
    }
    return [...lines, current];
  });
}

/** Truncates the text to `width` columns, with an ellipsis. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
