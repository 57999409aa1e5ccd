import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexTerms, matchExpression, stretchesOf } from './search-terms.ts';

describe('indexTerms', () => {
  it.each([
    ['严氏家训', '严氏 氏家 家训 训'],
    ['井', '井'],
    ['古井，千年', '古井 井 千年 年'],
    ['严田 Village 1544年', '严田 田 village 1544 年'],
    ['ＡＢＣ　全角', 'abc 全角 角'],
    ['Café—naïve', 'café naïve'],
    ['がっこうへ', 'がっ っこ こう うへ へ'],
    ['𠮷野家', '𠮷野 野家 家'],
    ['！？…', ''],
    ['', ''],
  ])('of %s', (text, terms) => {
    expect(indexTerms(text)).toBe(terms);
  });
});

describe('matchExpression', () => {
  it.each([
    ['井', '"井" *'],
    ['古井', '"古井"'],
    ['严氏家训', '"严氏 氏家 家训"'],
    ['古井 传说', '"古井" AND "传说"'],
    ['严田village', '"严田" AND "village" *'],
    ['"quoted" OR title:x*', '"quoted" * AND "or" * AND "title" * AND "x" *'],
    ['！？', null],
  ])('of %s', (text, expression) => {
    expect(matchExpression(text)).toBe(expression);
  });

  it('never contains FTS5 syntax from the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const expression = matchExpression(text);
        // Only quoted words, optionally with a star, joined by AND.
        return expression === null || /^"[^"]+"( \*)?( AND "[^"]+"( \*)?)*$/.test(expression);
      }),
    );
  });

  it('matches every part of an indexed text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('严', '氏', '家', '训', '古', '井'), minLength: 1 }),
        fc.nat(),
        fc.nat(),
        (text, a, b) => {
          const [from, to] = [a % text.length, b % text.length].toSorted((x, y) => x - y) as [number, number];
          const part = text.slice(from, to + 1);
          const terms = indexTerms(text).split(' ');
          const wanted = (matchExpression(part) ?? '')
            .replaceAll(/[" *]+/g, ' ')
            .trim()
            .split(' ');
          return terms.some((_, start) =>
            wanted.every((word, offset) =>
              wanted.length === 1 && word.length === 1
                ? terms[start]?.startsWith(word)
                : terms[start + offset] === word,
            ),
          );
        },
      ),
    );
  });

  it('accepts a text of any length', () => {
    const stretches = stretchesOf('a '.repeat(100));
    expect(stretches).toHaveLength(100);
  });
});
