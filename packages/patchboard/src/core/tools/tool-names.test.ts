import { describe, expect, it } from 'vitest';
import { hasHiddenCharacters, isToolName } from './tool-names.ts';

describe('a tool name', () => {
  it.each(['__proto__', '.proto.', '__proto.', '.proto__'])('is not %s, nor is its wire name', (name) => {
    expect(isToolName(name)).toBe(false);
  });

  it.each(['proto', '__proto', 'a.__proto__', 'constructor'])('may be %s', (name) => {
    expect(isToolName(name)).toBe(true);
  });
});

describe('hidden characters', () => {
  const NAMED = {
    'a control': '\u0007',
    'a soft hyphen': '\u00ad',
    'a zero-width space': '\u200b',
    'an override of direction': '\u202e',
    'an isolate of direction': '\u2066',
    'a byte order mark': '\ufeff',
    'a tag': '\u{e0041}',
    'a Hangul filler': '\u3164',
    'a Hangul choseong filler': '\u115f',
    'a halfwidth Hangul filler': '\uffa0',
    'an empty Braille pattern': '\u2800',
    'the first variation selector of the supplement': '\u{e0100}',
    'the last one': '\u{e01ef}',
    'variation selectors in a row': '\ufe00\ufe0e',
    'a carriage return alone': '\r',
    'a carriage return after a line break': '\n\r',
  };

  it.each(Object.entries(NAMED))('are found: %s', (_name, characters) => {
    for (const text of [characters, `before${characters}after`, `last${characters}`])
      expect([text, hasHiddenCharacters(text)]).toEqual([text, true]);
  });

  it.each([
    ['plain text', 'Reads a file.\n\tThen closes it.'],
    ['line breaks of Windows', 'one\r\ntwo\r\n\r\n'],
    ['Chinese, Korean, Arabic and Thai', '读取文件 파일 ملف ไฟล์'],
    ['an emoji with its variation selector', 'sunny \u2600\ufe0f and snow \u2744\ufe0f'],
    ['Braille that is not empty', '\u2801\u28ff'],
  ])('are not: %s', (_name, text) => {
    expect(hasHiddenCharacters(text)).toBe(false);
  });
});
