import { describe, expect, it } from 'vitest';
import { markedText } from './marked-text.ts';

describe('a mark', () => {
  it('is under the part, also after wide characters and in a long text', () => {
    expect(markedText('北京 ab', { column: 4, length: 2 })).toEqual(['北京 ab', '     ^^']);
    const [text = '', mark = ''] = markedText(`${'x'.repeat(100)}BAD${'y'.repeat(100)}`, {
      column: 101,
      length: 3,
    });
    expect(text.length).toBeLessThan(70);
    expect(text.slice(mark.indexOf('^'), mark.length)).toBe('BAD');
  });
});
