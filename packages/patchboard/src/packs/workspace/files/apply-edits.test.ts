import { reason, reasonText } from '@patchboard/wire';
import { applyPatch, parsePatch } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, type Edit } from './apply-edits.ts';
import { unifiedDiff } from './edit-tools.ts';

/** However slow the machine is. */
const diffOf = (path: string, before: string, after: string) => unifiedDiff(path, before, after, Infinity);

function edited(text: string, ...edits: Edit[]): string {
  const result = applyEdits(text, edits);
  if (!result.ok) throw new Error(reasonText(result.problem));
  return result.text;
}

function problem(text: string, ...edits: Edit[]): string {
  const result = applyEdits(text, edits);
  return result.ok ? 'none' : reasonText(result.problem);
}

/** Texts that a non-literal replacement would interpret. */
const PIECES = [
  '$&',
  '$1',
  '$$',
  '$`',
  "$'",
  String.raw`\n`,
  'a',
  'b',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '中文',
  '🦊',
  'é',
  '\u2028',
  '\uFEFF',
  '\0',
  '-- ',
  '++ ',
  '@@ -1,2 +1,2 @@',
  String.raw`\ No newline at end of file`,
  ' ',
];
const text = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 5, unit: 'grapheme' })), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''));
const change = fc.record({ text, from: fc.nat(), length: fc.integer({ min: 1, max: 20 }), next: text });

/** An edit of a part that occurs once in the text. */
function editOf({
  text: whole,
  from,
  length,
  next,
}: {
  text: string;
  from: number;
  length: number;
  next: string;
}): Edit | null {
  const characters = Array.from(whole);
  const start = characters.length === 0 ? 0 : from % characters.length;
  const old = characters.slice(start, start + length).join('');
  if (old === '' || old === next || whole.indexOf(old) !== whole.lastIndexOf(old)) return null;
  return { old, new: next };
}

describe('edits', () => {
  it('replace the old text by exactly the new one', () => {
    fc.assert(
      fc.property(change, (given) => {
        const edit = editOf(given);
        fc.pre(edit !== null);
        const at = given.text.indexOf(edit.old);
        const wanted = given.text.slice(0, at) + edit.new + given.text.slice(at + edit.old.length);
        expect(edited(given.text, edit)).toBe(wanted);
      }),
      { numRuns: 500 },
    );
  });

  it('are undone by the reverse edit if that is unambiguous', () => {
    fc.assert(
      fc.property(change, (given) => {
        const edit = editOf(given);
        fc.pre(edit !== null && edit.new !== '');
        const after = edited(given.text, edit);
        fc.pre(after.indexOf(edit.new) === after.lastIndexOf(edit.new));
        expect(edited(after, { old: edit.new, new: edit.old })).toBe(given.text);
      }),
      { numRuns: 300 },
    );
  });

  it('have a diff that produces the same text', () => {
    fc.assert(
      fc.property(change, (given) => {
        const edit = editOf(given);
        fc.pre(edit !== null);
        const after = edited(given.text, edit);
        const diff = diffOf('a.txt', given.text, after);
        expect(applyPatch(given.text, diff!, { autoConvertLineEndings: false })).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it('replace every occurrence with replace_all, from left to right', () => {
    expect(edited('aaaa', { old: 'aa', new: 'b', replace_all: true })).toBe('bb');
    expect(edited('a.a', { old: 'a', new: '$&$1', replace_all: true })).toBe('$&$1.$&$1');
    fc.assert(
      fc.property(fc.array(text), fc.constantFrom(...PIECES), text, (parts, old, next) => {
        const whole = parts.join(old);
        fc.pre(old !== next && whole.includes(old));
        expect(edited(whole, { old, new: next, replace_all: true })).toBe(whole.split(old).join(next));
      }),
    );
  });

  it('are applied in order, all or none', () => {
    expect(edited('one two', { old: 'one', new: 'two' }, { old: 'two two', new: 'three' })).toBe('three');
    const refused = applyEdits('one two', [
      { old: 'one', new: 'x' },
      { old: 'gone', new: 'y' },
    ]);
    expect(refused).toEqual({ ok: false, edit: 1, problem: reason('edit_not_found') });
  });

  it.each([
    ['a text that is there twice', 'a b a', { old: 'a', new: 'x' }, 'more than once (lines 1 and 1)'],
    ['two that overlap', 'aaa', { old: 'aa', new: 'x' }, 'more than once'],
    ['a text that is not there', 'a', { old: 'b', new: 'x' }, 'old is not in the file'],
    ['nothing to change', 'a', { old: 'a', new: 'a' }, 'the same'],
    ['an empty old text', 'a', { old: '', new: 'x' }, 'old is empty'],
    [
      'other line ends',
      'a\r\nb\r\n',
      { old: 'a\nb', new: 'x' },
      String.raw`the lines of the file end with \r\n`,
    ],
    ['half a character', 'a', { old: 'a', new: '\uD83E' }, 'surrogate'],
  ])('refuse %s', (_name, whole, edit, message) => {
    expect(problem(whole, edit)).toContain(message);
  });

  it('fill an empty file, keep CRLF, and add no newline at the end', () => {
    expect(edited('', { old: '', new: 'first' })).toBe('first');
    expect(edited('a\r\nb\r\n', { old: 'a\r\n', new: 'c\r\n' })).toBe('c\r\nb\r\n');
    expect(edited('a\nb', { old: 'b', new: 'c' })).toBe('a\nc');
    expect(diffOf('x', 'a\nb', 'a\nc')).toContain(String.raw`\ No newline at end of file`);
    expect(diffOf('x', '', 'first')).toContain('+first');
  });

  it('accept a line of four megabytes', () => {
    const line = 'x'.repeat(2_000_000);
    const after = edited(`${line}mark${line}`, { old: 'mark', new: '$&' });
    expect(after).toBe(`${line}$&${line}`);
    expect(applyPatch(`${line}mark${line}`, diffOf('a', `${line}mark${line}`, after)!)).toBe(after);
  });

  it('return no diff if it takes too long', () => {
    expect(unifiedDiff('a.ts', 'one\n', 'two\n', -1)).toBeNull();
  });

  it('return a unified diff', () => {
    const diff = diffOf('src/a.ts', 'one\ntwo\n', 'one\n2\n');
    expect(diff).toBe('--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n');
    expect(parsePatch(diff!)).toHaveLength(1);
  });
});
