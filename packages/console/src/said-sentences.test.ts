import { describe, expect, it } from 'vitest';
import { sentenceOf, sentencesOf } from './said-sentences.ts';
import { saidWords as english } from './words/en/said.ts';
import { saidWords as chinese } from './words/zh/said.ts';

const ESCAPED = '「始ESCAPE」 and 「末ESCAPE」';
const OPEN = `is not closed before <<<[TOOL_REQUEST]>>>: write 「末」 right after it, or write the value between ${ESCAPED} if the marker is part of it`;

function written(words: Readonly<Record<string, string>>, said: string): string | undefined {
  const [key, params] = sentenceOf(said) ?? ['', {}];
  return words[key]?.replace(/\{(\w+)\}/g, (_gap, name: string) => params[name] ?? '?');
}

describe('what the server says of a damaged request', () => {
  it.each([
    `the value of "text" ${OPEN}`,
    `a value ${OPEN}`,
    `the request stands inside a value that is not closed, and is not run: close the value before it, or write the value between ${ESCAPED}`,
  ])('is known in both languages: %s', (said) => {
    expect(written(english.said, said)).toBe(said);
    expect(written(chinese.said, said)).toMatch(/闭合.*「始ESCAPE」 与 「末ESCAPE」/);
  });

  it.each([
    '51900 more problems of this reply are not listed',
    'the shared fields of a batch may take 1000000 characters over all commands: write several requests',
  ])('is known with its number: %s', (said) => {
    const [number = ''] = /\d+/.exec(said) ?? [];
    expect(written(english.said, said)).toBe(said);
    expect(written(chinese.said, said)).toMatch(new RegExp(`\\p{Script=Han}.*${number}`, 'u'));
  });
});

describe('what the server says of a call that nothing encloses', () => {
  it.each([
    'this server has no sandbox: the command runs as the user root (uid 0), can read and change every file of that user, and has the network',
    'this server has no sandbox: it writes as the user root (uid 0), and only the check of its path keeps it in the workspace',
  ])('is known in both languages: %s', (said) => {
    expect(written(english.said, said)).toBe(said);
    expect(written(chinese.said, said)).toMatch(/没有沙箱.*root \(uid 0\)/);
  });

  it('is known beside other reasons', () => {
    const reason =
      'this server has no sandbox: it writes as the user a; b, and only the check of its path keeps it in the workspace';
    expect(sentencesOf(reason)).toEqual([['writeWithoutSandbox', { user: 'a; b' }]]);
    expect(sentencesOf(`the tool is destructive; the command deletes folders`)).toEqual([
      ['destructive', {}],
      'the command deletes folders',
    ]);
  });
});
