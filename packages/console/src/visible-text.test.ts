import { describe, expect, it } from 'vitest';
import { visibleText } from './visible-text.ts';

describe('visibleText', () => {
  it('escapes invisible and bidirectional characters', () => {
    expect(visibleText('a\u202eb\u200bc\u0000d\ufeff')).toBe('a\\u{202e}b\\u{200b}c\\u{0}d\\u{feff}');
    expect(visibleText('\u{e0041}\u2028')).toBe('\\u{e0041}\\u{2028}');
  });

  it('keeps visible characters', () => {
    const text = '{\n\t"名前": "żółw 🐢",\n  "a": 1\n}';
    expect(visibleText(text)).toBe(text);
  });
});
