import { widthOf } from './terminal-text.ts';

/** Characters of the text that stay visible before the marked part of a long text. */
const BEFORE = 30;
const LONGEST = 60;

/**
 * Returns the text and, below it, carets under the part that starts at `column` (from 1, in UTF-16 units). A long text is cut
 * around the part.
 */
export function markedText(
  text: string,
  { column, length }: { readonly column: number; readonly length: number },
): string[] {
  const start = column - 1;
  const from = text.length <= LONGEST ? 0 : Math.max(0, start - BEFORE);
  const to = text.length <= LONGEST ? text.length : Math.min(text.length, from + LONGEST);
  const lead = from === 0 ? '' : '…';
  const shown = oneLine(`${lead}${text.slice(from, to)}${to < text.length ? '…' : ''}`);
  const marked = oneLine(text.slice(start, Math.min(start + length, to)));
  const indent = widthOf(oneLine(`${lead}${text.slice(from, start)}`));
  return [shown, `${' '.repeat(indent)}${'^'.repeat(Math.max(1, widthOf(marked)))}`];
}

/** Line ends and tabs would move the carets. */
function oneLine(text: string): string {
  return text.replaceAll(/\s/gu, ' ');
}
