import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesGlob } from './glob.ts';
import { indexOfSegment } from './glob-search.ts';

const oneOf = (...symbols: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...symbols);

/** Reference implementation: a table of the text prefixes that each pattern prefix matches. */
function matchesByTable(pattern: string, text: string): boolean {
  let row = Array.from({ length: text.length + 1 }, (_, length) => length === 0);
  for (const sign of pattern) {
    const next = [sign === '*' && row[0] === true];
    for (let length = 1; length <= text.length; length += 1) {
      const isOne = row[length - 1] === true && (sign === '?' || sign === text[length - 1]);
      next.push(sign === '*' ? row[length] === true || next[length - 1] === true : isOne);
    }
    row = next;
  }
  return row[text.length] === true;
}

describe('a long pattern and a long text', () => {
  it('match as in the reference implementation', () => {
    const pattern = fc.string({ unit: oneOf('a', 'a', 'b', '*', '?'), maxLength: 12 });
    const text = fc.string({ unit: oneOf('a', 'a', 'b', '?', '*'), minLength: 400, maxLength: 500 });
    fc.assert(
      fc.property(pattern, text, fc.boolean(), (piece, sample, holdsText) => {
        // Long enough that the segment search is used.
        const written = holdsText ? `${piece}*${sample.slice(100, 140)}*` : `${'a*'.repeat(10)}${piece}`;
        expect(matchesGlob(written, sample)).toBe(matchesByTable(written, sample));
      }),
      { numRuns: 300 },
    );
  });

  // A comparison that backtracks at each position takes minutes.
  it(
    'are compared in time that is not proportional to the product of their lengths',
    { timeout: 10_000 },
    () => {
      const text = 'a'.repeat(1_000_000);
      expect(matchesGlob(`*${'a'.repeat(999)}b*`, text)).toBe(false);
      expect(matchesGlob(`*b${'a'.repeat(999)}*`, text)).toBe(false);
      expect(matchesGlob(`*${'a?'.repeat(499)}b*`, text)).toBe(false);
      expect(matchesGlob(`*${'a?'.repeat(499)}a*`, text)).toBe(true);
    },
  );
});

describe('indexOfSegment', () => {
  const find = (segment: string, text: string, notOne: string | null = null): number =>
    indexOfSegment(segment, text, { from: 0, end: text.length, notOne });

  it('finds the first match, across the boundaries of 32-bit words', () => {
    const segment = `${'a'.repeat(40)}?b`;
    expect(find(segment, `${'a'.repeat(100)}b`)).toBe(59);
    expect(find(segment, 'a'.repeat(100))).toBe(-1);
    expect(find('a'.repeat(32), 'a'.repeat(31))).toBe(-1);
    expect(find('a'.repeat(64), `b${'a'.repeat(64)}`)).toBe(1);
  });

  it('lets ? match any character but the excepted one', () => {
    expect(find('a?', 'a*a+')).toBe(0);
    expect(find('a?', 'a*a+', '*')).toBe(2);
    expect(find('*?', '**+', '*')).toBe(1);
  });
});
