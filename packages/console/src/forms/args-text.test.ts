import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArgs, pathOf, placeOf, pointerOf, replaceAt, sourceAt } from './args-text.ts';

function valueOf(text: string): unknown {
  const parsed = parseArgs(text);
  if (!parsed.ok) throw new Error(parsed.problem.code);
  return parsed.plain;
}

describe('one text', () => {
  it('keeps every digit of a number, in display and in requests', () => {
    const text = replaceAt('{"a": 1}', ['big'], '123456789012345678901234567890');
    const parsed = parseArgs(text);
    expect(text).toContain('"big": 123456789012345678901234567890');
    expect(JSON.stringify(parsed.ok && parsed.value)).toContain('123456789012345678901234567890');
  });

  it('removes an unset value completely, and keeps an empty one', () => {
    expect(valueOf(replaceAt('{"a": "", "b": 2}', ['a'], undefined))).toEqual({ b: 2 });
    expect(valueOf(replaceAt('{"b": 2}', ['a'], '""'))).toEqual({ a: '', b: 2 });
  });

  it('leaves all other text as it was', () => {
    const text = '{\n    "odd":   [1,\n 2],\n  "x": 1\n}';
    expect(replaceAt(text, ['x'], '3')).toBe('{\n    "odd":   [1,\n 2],\n  "x": 3\n}');
  });

  it('writes replacement patterns such as $& literally', () => {
    expect(valueOf(replaceAt('{}', ['a'], JSON.stringify("$& $' $1")))).toEqual({ a: "$& $' $1" });
  });

  it('writes any value at any path, and reads it back', () => {
    const part = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('a/b', '~', '__proto__', ''));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 3 }), fc.jsonValue(), (path, value) => {
        const source = JSON.stringify(value);
        const text = replaceAt('{"kept": [1, {"a": 2}]}', path, source);
        const parsed = parseArgs(text);
        expect(parsed.ok).toBe(true);
        if (!parsed.ok) return;
        expect(sourceAt(text, parsed.tree, path)).toBe(source);
        expect(pathOf(parsed.tree, pointerOf(path))).toEqual(path);
      }),
    );
  });

  it('returns line and column of a JSON error', () => {
    const parsed = parseArgs('{\n  "a": 1,\n  "b": \n}');
    expect(parsed).toMatchObject({ ok: false, problem: { code: 'ValueExpected', line: 4, column: 1 } });
    expect(parseArgs('')).toMatchObject({ ok: false });
    expect(parseArgs('{"a": 1 // no comments\n}')).toMatchObject({ ok: false });
    expect(parseArgs('{"a": 1,}')).toMatchObject({ ok: false });
    expect(placeOf('ab\ncd', 4)).toEqual({ line: 2, column: 2 });
  });
});
