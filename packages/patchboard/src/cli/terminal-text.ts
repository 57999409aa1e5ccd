import { stripVTControlCharacters } from 'node:util';

const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const NARROWEST = /[\p{Mn}\p{Me}\p{Cf}]/u;

/**
 * Text from outside, fit for a terminal: names, descriptions and results may hold escape sequences and
 * direction marks that would repaint or reorder what a person reads. They are shown, not obeyed.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/** Per UTF-16 unit, as JSON has it. */
function escaped(character: string): string {
  let text = '';
  for (let index = 0; index < character.length; index += 1) {
    text += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return text;
}

/** Besides what shows nothing at all, the blanks that look like a space and are none; U+3000 is one that people type. */
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800]/gu;

/**
 * JSON for somebody who answers for it: what a terminal obeys and what it does not show at all (zero-width
 * characters, tags, variation selectors) is written as the escape it is in JSON, so nothing can hide.
 */
export function verbatimJson(value: unknown): string {
  return withoutUnseen(JSON.stringify(value, null, 2) ?? 'null');
}

/** The same on one line. */
export function verbatimJsonLine(value: unknown): string {
  return withoutUnseen(JSON.stringify(value) ?? 'null');
}

/** In JSON text a line end is its layout; what stands in a string is escaped already. */
function withoutUnseen(json: string): string {
  return json.replace(UNSEEN, (character) => (character === '\n' ? character : escaped(character)));
}

/** JSON escapes what is below U+0020 itself; the rest that a terminal obeys is escaped the same way. */
export function printableJson(value: unknown): string {
  return printable(JSON.stringify(value, null, 2) ?? 'null');
}

/** Columns that the text takes, colours not counted. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of stripVTControlCharacters(text)) {
    if (WIDE.test(character)) width += 2;
    else if (!NARROWEST.test(character)) width += 1;
  }
  return width;
}

/** Every character of the text, in lines of at most `width` columns. */
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

/** At most `width` columns, with an ellipsis where something is left out. */
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
