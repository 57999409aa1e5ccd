import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coversGlob, matchesGlob } from './glob.ts';

const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 5 });
const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });

describe('coversGlob', () => {
  it('is true only if the general pattern matches every text that the specific one matches', () => {
    fc.assert(
      fc.property(pattern, pattern, text, (general, specific, sample) => {
        fc.pre(coversGlob(general, specific) && matchesGlob(specific, sample));
        expect(matchesGlob(general, sample)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['*', 'a?*'],
    ['database.*', 'database.query'],
    ['database.*', 'database.q*'],
    ['?', 'a'],
    ['a?c', 'a?c'],
  ])('%s covers %s', (general, specific) => {
    expect(coversGlob(general, specific)).toBe(true);
  });

  it.each([
    ['database.query', 'database.*'],
    ['?', '*'],
    ['a?', 'a'],
  ])('%s does not cover %s', (general, specific) => {
    expect(coversGlob(general, specific)).toBe(false);
  });
});
