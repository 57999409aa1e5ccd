import { reason, type Reason } from '@patchboard/wire';
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
  | { readonly ok: false; readonly edit: number; readonly problem: Reason };

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

function problemWith(text: string, { old, new: next, replace_all: all = false }: Edit): Reason | null {
  // A lone surrogate cannot be encoded in UTF-8 and would be read back differently.
  if (!isWellFormed(old) || !isWellFormed(next)) return reason('edit_half_surrogate');
  if (old === next) return reason('edit_same');
  if (old === '') return text === '' ? null : reason('edit_empty');
  const first = text.indexOf(old);
  if (first === -1) return notFound(text, old);
  if (all) return null;
  // From the next character on, so that overlapping occurrences count as two.
  const second = text.indexOf(old, first + 1);
  if (second === -1) return null;
  return reason('edit_ambiguous', { first: lineAt(text, first), second: lineAt(text, second) });
}

function notFound(text: string, old: string): Reason {
  if (text.includes('\r\n') && !old.includes('\r') && text.replaceAll('\r\n', '\n').includes(old))
    return reason('edit_line_ends');
  return reason('edit_not_found');
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < index; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
