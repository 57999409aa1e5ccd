import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verbatimJson, verbatimJsonLine, widthOf, wrap } from './terminal-text.ts';

describe('verbatimJson', () => {
  it('escapes control characters and invisible characters', () => {
    const value = { a: 'x\u001b[2J\u009b\u202e\u200b\u{e0041}\ufe0f\u2028y', b: '天\n' };
    const text = verbatimJson(value);
    expect(text).toBe(
      '{\n  "a": "x\\u001b[2J\\u009b\\u202e\\u200b\\udb40\\udc41\\ufe0f\\u2028y",\n  "b": "天\\n"\n}',
    );
  });

  it('escapes blanks other than a space, also on one line', () => {
    expect(verbatimJsonLine({ to: 'bob\u200b', pay: '1\u00a0\u2009\u28000', 天: '\u3000 \n' })).toBe(
      '{"to":"bob\\u200b","pay":"1\\u00a0\\u2009\\u28000","天":"\u3000 \\n"}',
    );
  });

  it('parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(verbatimJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('wrapping', () => {
  it('loses no character and stays within the width', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 2, max: 20 }),
        (text, width) => {
          const plain = text.replaceAll('\n', '');
          const lines = wrap(plain, width);
          expect(lines.join('')).toBe(plain);
          for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  it('keeps lines apart', () => {
    expect(wrap('ab\n\nc', 5)).toEqual(['ab', '', 'c']);
  });
});
