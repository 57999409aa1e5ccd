import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/server-process.ts';
import { blocksOf, codeSpansOf, headingsOf, localLinksOf, tablesOf } from './markdown.ts';

const english = readFileSync(join(ROOT, 'README.md'), 'utf8');
const chinese = readFileSync(join(ROOT, 'README.zh-CN.md'), 'utf8');

describe('README.md and README.zh-CN.md', () => {
  it('have the same sections', () => {
    const levels = (markdown: string): number[] => headingsOf(markdown).map(({ level }) => level);
    expect(levels(chinese)).toEqual(levels(english));
  });

  it('show the same commands, programs and outputs', () => {
    const shown = (markdown: string) =>
      blocksOf(markdown).map(({ language, code, mark }) => ({ language, code, mark }));
    expect(shown(chinese)).toEqual(shown(english));
  });

  it('name the same things in their tables', () => {
    const named = (markdown: string): string[][] => rowsOf(markdown).map((row) => codeSpansOf(row));
    // Words that are only translated carry no code.
    expect(named(chinese)).toEqual(named(english));
  });

  it('lead to the same places', () => {
    const led = (markdown: string): string[] =>
      localLinksOf(markdown)
        .filter((link) => !link.startsWith('#') && !link.startsWith('README'))
        // A picture with words in it exists in both languages.
        .map((link) => link.replace(/\.zh-CN\.svg$/, '.svg'));
    expect(led(chinese)).toEqual(led(english));
  });

  it('name each other', () => {
    expect(localLinksOf(english)).toContain('README.zh-CN.md');
    expect(localLinksOf(chinese)).toContain('README.md');
  });
});

describe.each([
  'docs/configuration.md',
  'docs/cli.md',
  'docs/guides/mcp.md',
  'docs/guides/mcp-servers.md',
  'docs/guides/openapi.md',
  'docs/guides/postgres.md',
  'docs/guides/more-than-one-node.md',
  'docs/guides/search.md',
])('%s and its Chinese version', (page) => {
  const [ours, theirs] = [page, `docs/zh-CN/${basename(page)}`].map((path) =>
    readFileSync(join(ROOT, path), 'utf8'),
  );

  it('have the same sections, examples and rows in the same order', () => {
    const outline = (markdown = '') => ({
      levels: headingsOf(markdown).map(({ level }) => level),
      blocks: blocksOf(markdown).map(({ language, code }) => ({ language, code })),
      rows: tablesOf(markdown).map(([, ...rows]) => rows.map(([first = '']) => codeSpansOf(first))),
    });
    expect(outline(theirs)).toEqual(outline(ours));
  });

  it('name the same things in their text', () => {
    const named = (markdown = ''): string[] => [...new Set(codeSpansOf(markdown))].toSorted();
    expect(named(theirs)).toEqual(named(ours));
  });
});

function rowsOf(markdown: string): string[] {
  return markdown.split('\n').filter((line) => line.startsWith('| '));
}
