/** Spaces, tabs and the characters of quote and list marks. */
const LEAD_CHARACTERS: ReadonlySet<number> = new Set(
  Array.from(' \t>-*+.)0123456789', (character) => character.charCodeAt(0)),
);
const NEWLINE = 0x0a;
/** White space and complete quote and list marks, in any order. */
const LEAD = /^(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*$/;

/**
 * Returns the part of the line before `at` if it has lead characters only; else null. `before`: the lead of that line
 * before the text begins.
 */
export function leadBefore(text: string, at: number, before: string | null): string | null {
  let from = at;
  while (from > 0 && LEAD_CHARACTERS.has(text.charCodeAt(from - 1))) from -= 1;
  if (from > 0) return text.charCodeAt(from - 1) === NEWLINE ? text.slice(from, at) : null;
  return before === null ? null : before + text.slice(0, at);
}

/** Whether a Markdown block, such as a fence, may begin after this lead. */
export function isLineBeginning(lead: string | null): boolean {
  return lead !== null && LEAD.test(lead);
}
