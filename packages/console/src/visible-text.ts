/**
 * Characters that a reader cannot see, or that change the order of what is seen: controls, zero-width and bidirectional
 * ones, tags. Line breaks and tabs are seen well enough.
 */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The text with what cannot be seen written out, so that what is shown is what is there. */
export function visibleText(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
