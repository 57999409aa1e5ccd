/**
 * Invisible characters and those that reorder text: controls, zero-width and bidirectional characters, tags.
 * Line breaks and tabs are allowed.
 */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the text with every invisible character written as an escape. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
