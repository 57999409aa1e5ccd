import { isWellFormed } from '../contract.ts';

/** One literal replacement. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  readonly replace_all?: boolean;
}

export type Edited =
  | { readonly ok: true; readonly text: string; readonly replacements: number }
  /** `edit` is the index of the failing edit. */
  | { readonly ok: false; readonly edit: number; readonly problem: string };

/** Applies the edits in order, each to the result of the one before. All texts are literal. */
export function applyEdits(text: string, edits: readonly Edit[]): Edited {
  let current = text;
  let replacements = 0;
  for (const [index, edit] of edits.entries()) {
    const problem = problemWith(current, edit);
    if (problem !== null) return { ok: false, edit: index, problem };
    const pieces =
      edit.replace_all === true && edit.old !== '' ? current.split(edit.old) : splitOnce(current, edit.old);
    current = pieces.join(edit.new);
    replacements += pieces.length - 1;
  }
  return { ok: true, text: current, replacements };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

function problemWith(text: string, { old, new: next, replace_all: all = false }: Edit): string | null {
  // A lone surrogate cannot be encoded in UTF-8 and would be read back differently.
  if (!isWellFormed(old) || !isWellFormed(next))
    return 'contains a lone surrogate, which cannot be stored as UTF-8';
  if (old === next) return 'old and new are the same';
  if (old === '') return text === '' ? null : 'old is empty: give the text to replace';
  const first = text.indexOf(old);
  if (first === -1) return notFound(text, old);
  if (all) return null;
  // From the next character on, so that overlapping occurrences count as two.
  const second = text.indexOf(old, first + 1);
  if (second === -1) return null;
  const lines = [first, second].map((at) => lineAt(text, at)).join(' and ');
  return `old occurs more than once (lines ${lines}): include more of the surrounding text, or set replace_all`;
}

function notFound(text: string, old: string): string {
  if (text.includes('\r\n') && !old.includes('\r') && text.replaceAll('\r\n', '\n').includes(old))
    return String.raw`old is not in the file as written: its lines end with \r\n`;
  return 'old is not in the file';
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
