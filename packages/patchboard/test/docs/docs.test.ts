import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeSpansOf, headingsOf, localLinksOf, tablesOf, withoutBlocks } from '../readme/markdown.ts';
import { ROOT } from '../support/server-process.ts';

const TOP = [
  'README.md',
  'README.zh-CN.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'examples/README.md',
];
const PAGES = [...TOP, ...pagesIn('docs'), ...pagesIn('packages')];

function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(node_modules|dist|src|test)$/.test(entry.name) ? [] : pagesIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

describe.each(PAGES)('%s', (page) => {
  it('has no link that leads nowhere', () => {
    const broken = localLinksOf(read(page)).filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path));
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names no place of one machine', () => {
    const text = read(page);
    expect(text).not.toMatch(/(^|[\s`("'])\/(root|home|work|Users|tmp)\//m);
  });
});

/** Heading anchors as common renderers generate them. */
function anchorsOf(markdown: string): string[] {
  const headings = headingsOf(markdown).map(({ text }) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const named = [...markdown.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id);
  return [...headings, ...named];
}

describe('docs/guarantees.md', () => {
  const rows = tablesOf(read('docs/guarantees.md')).flatMap(([, ...body]) => body);

  it('speaks of every promise, once and in order', () => {
    const wanted = [...numbers('G', 27), ...numbers('V', 26), ...numbers('T', 7)];
    expect(rows.map(([id]) => id)).toEqual(wanted);
  });

  it.each(rows)('%s names tests that exist', (_id, _promise, ...shown) => {
    const text = shown.join(' ');
    const files = codeSpansOf(text).filter((span) => /\.(test|contract)\.ts$/.test(span));
    expect(files.length > 0 || text.includes('npm run chaos')).toBe(true);
    for (const file of files) expect(existsSync(join(ROOT, file)), file).toBe(true);
    for (const { file, title } of titlesIn(text)) expect(read(file), title).toContain(title);
  });
});

describe('docs/failures.md', () => {
  const rows = tablesOf(read('docs/failures.md')).flatMap(([, ...body]) => body);

  it.each(rows)('%s: names a test that exists', (_fault, _effect, bound, shown = '') => {
    expect(bound).not.toBe('');
    const files = codeSpansOf(shown).filter((span) => span.endsWith('.test.ts'));
    expect(files.length > 0 || shown === 'the same test').toBe(true);
    for (const file of files) expect(existsSync(join(ROOT, file)), file).toBe(true);
    for (const { file, title } of titlesIn(shown)) expect(read(file), title).toContain(title);
  });
});

function numbers(letter: string, last: number): string[] {
  return Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);
}

/** `file` "title", "title": what stands in quotes after a file is in it. */
function titlesIn(text: string): { file: string; title: string }[] {
  return [...text.matchAll(/`([^`]+\.ts)`((?:,? ?"[^"]+")*)/g)].flatMap(([, file = '', quoted = '']) =>
    [...quoted.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title })),
  );
}

const SOURCE = join('packages', 'patchboard', 'src');

/** A file name, and a method of MCP. */
const NO_PATHS = ['openapi.json', 'tools/call'];

/** The code spans that are paths of files and folders, and do not exist under any of the folders. */
function missingPaths(markdown: string, ...bases: readonly string[]): string[] {
  const paths = codeSpansOf(markdown).filter((span) => /^[\w.-]+(\/[\w.*-]+)+$|\.ts$/.test(span));
  expect(paths.length).toBeGreaterThan(20);
  const missing = paths.filter((path) => !bases.some((base) => existsSync(join(ROOT, base, path))));
  return missing.filter((path) => !NO_PATHS.includes(path));
}

describe.each(['docs/architecture.md', 'docs/walks.md'])('%s', (page) => {
  it('names files and folders that exist', () => {
    expect(missingPaths(read(page), '', SOURCE, join(SOURCE, 'store', 'sqlite'))).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  const [, recipes = ''] = /^## Ten recipes$([\s\S]+?)^## /m.exec(read('CONTRIBUTING.md')) ?? [];

  it('has ten recipes, which name files and folders that exist', () => {
    const numbers = [...recipes.matchAll(/^\*\*(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(missingPaths(recipes, '', SOURCE)).toEqual([]);
  });

  it('names constants, types and functions that exist', () => {
    const named = codeSpansOf(recipes).filter((span) =>
      /^[A-Z][A-Z_]{3,}$|^[a-z]+[A-Z]\w+$|^[A-Z][a-z]+[A-Z]\w+$/.test(span),
    );
    const files = codeSpansOf(recipes).flatMap((span) => ['', SOURCE].map((base) => join(ROOT, base, span)));
    const text = files
      .filter((path) => /\.(ts|vue)$/.test(path) && existsSync(path))
      .map((path) => readFileSync(path, 'utf8'));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !text.some((source) => source.includes(name)))).toEqual([]);
  });
});

describe('docs/dependencies.md', () => {
  it('has a sentence for every dependency, and for no other', () => {
    const named = tablesOf(read('docs/dependencies.md')).flatMap(([, ...rows]) =>
      rows.map(([name = '']) => codeSpansOf(name)[0] ?? name),
    );
    const manifests = ['.', 'packages/patchboard', 'packages/console', 'packages/client', 'packages/wire'];
    const used = manifests.flatMap((folder) => {
      const manifest = JSON.parse(read(join(folder, 'package.json'))) as Record<
        string,
        Record<string, string>
      >;
      return ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
        Object.keys(manifest[kind] ?? {}),
      );
    });
    expect([...new Set(named)].toSorted()).toEqual([...new Set(used)].toSorted());
  });
});

describe('docs/decisions', () => {
  const files = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => name !== 'README.md');

  it('have each a number of their own and are listed', () => {
    const index = localLinksOf(read('docs/decisions/README.md'));
    expect(new Set(files.map((name) => Number(name.slice(0, 4)))).size).toBe(files.length);
    expect(index.filter((link) => /^\d{4}-/.test(link)).toSorted()).toEqual(files.toSorted());
  });

  it.each(files)('%s says what was decided, why, and what it costs, on half a page', (name) => {
    const text = read(join('docs/decisions', name));
    expect(headingsOf(text).map((heading) => heading.text)).toEqual([
      expect.stringMatching(/^\d+\. \S/),
      'Decision',
      'Why',
      'Cost',
    ]);
    expect(withoutBlocks(text).split('\n').length).toBeLessThan(50);
  });
});
