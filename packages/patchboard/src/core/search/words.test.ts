import { describe, expect, it } from 'vitest';
import { containsPhrase, INDEXED_CHARACTERS, wordsOf, wordsOfArguments } from './words.ts';

describe('the words of a text', () => {
  it('are runs of letters and digits in lower case', () => {
    expect(wordsOf('Say "Hello-World_2" to ÅSA, or don’t: x*y')).toEqual([
      'say',
      'hello',
      'world',
      '2',
      'to',
      'åsa',
      'or',
      'don',
      't',
      'x',
      'y',
    ]);
    expect(wordsOf(' *-"() ')).toEqual([]);
  });

  it('are the same for composed and decomposed letters', () => {
    expect(wordsOf('Cafe\u0301')).toEqual(wordsOf('CAFÉ'));
    expect(wordsOf('हिन्दी')).toHaveLength(1);
  });

  it('are single characters where a script has no spaces', () => {
    expect(wordsOf('查询Oslo天气，明天3点')).toEqual(['查', '询', 'oslo', '天', '气', '明', '天', '3', '点']);
    expect(wordsOf('東京タワー')).toHaveLength(5);
    expect(wordsOf('𠮷野家')).toEqual(['𠮷', '野', '家']);
  });

  it('do not contain the escapes of JSON', () => {
    const args = JSON.stringify({ text: 'one\ntwo\t"three"\\four' });
    expect(wordsOfArguments(args)).toEqual(['text', 'one', 'two', 'three', 'four']);
    expect(wordsOfArguments(String.raw`{"a":"\u5929气 caf\u00e9"}`)).toEqual(['a', '天', '气', 'café']);
  });

  it('end where the indexed part of the arguments ends', () => {
    const args = `"${'a '.repeat(INDEXED_CHARACTERS)}last"`;
    expect(wordsOfArguments(args)).not.toContain('last');
    expect(wordsOfArguments(String.raw`{"cut":"\u59`)).toEqual(['cut', 'u59']);
  });
});

describe('a phrase', () => {
  const words = wordsOf('weather in Oslo: 明天下雨 in the north');

  it('occurs if its words follow each other', () => {
    for (const text of ['oslo', 'Weather in', 'in the', '天下', '雨 IN the north'])
      expect(containsPhrase(words, wordsOf(text)), text).toBe(true);
    for (const text of ['in weather', 'osl', '下天', 'the oslo', 'north weather'])
      expect(containsPhrase(words, wordsOf(text)), text).toBe(false);
  });
});
