/** Blanks and the characters that the signs of quotes and lists are made of. */
const LEAD_CHARACTERS: ReadonlySet<number> = new Set(
  Array.from(' \t>-*+.)0123456789', (character) => character.charCodeAt(0)),
);
const NEWLINE = 0x0a;
/** Blanks, quotes and list items, in any order, and nothing begun and left unfinished. */
const LEAD = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*$/;

/**
 * What stands in the line before `at`, if it is made of lead characters only; else null. `before`: the same of what
 * stands in that line before the text begins.
 */
export function leadBefore(text: string, at: number, before: string | null): string | null {
  let from = at;
  while (from > 0 && LEAD_CHARACTERS.has(text.charCodeAt(from - 1))) from -= 1;
  if (from > 0) return text.charCodeAt(from - 1) === NEWLINE ? text.slice(from, at) : null;
  return before === null ? null : before + text.slice(0, at);
}

/** Whether a block of Markdown, such as a fence, may begin after it. */
export function isLineBeginning(lead: string | null): boolean {
  return lead !== null && LEAD.test(lead);
}
