import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

const side = (before: string, after: string, mark: '-' | '+'): string =>
  lineDiff(before, after)
    .filter((line) => line.mark === ' ' || line.mark === mark)
    .map((line) => line.text)
    .join('\n');

describe('lineDiff', () => {
  it('shows removed and added lines in place', () => {
    const lines = lineDiff('{\n  a\n  b\n}', '{\n  c\n  b\n  d\n}').map(({ mark, text }) => mark + text);
    expect(lines).toEqual([' {', '-  a', '+  c', '   b', '+  d', ' }']);
  });

  it('contains both texts completely', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 })
      .map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(side(before, after, '-')).toBe(before);
        expect(side(before, after, '+')).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it('is correct for texts too long to compare line by line', () => {
    const before = Array.from({ length: 1500 }, (_, index) => `old ${index}`).join('\n');
    const after = Array.from({ length: 1500 }, (_, index) => `new ${index}`).join('\n');
    expect(side(before, after, '-')).toBe(before);
    expect(side(before, after, '+')).toBe(after);
  });
});
