import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { en } from './en.ts';
import { zh } from './zh.ts';

const SOURCES = join(import.meta.dirname, '..');

function keysOf(words: object, before = ''): string[] {
  return Object.entries(words).flatMap(([name, value]) =>
    typeof value === 'string' ? [before + name] : keysOf(value as object, `${before}${name}.`),
  );
}

function textOf(key: string, words: object): string {
  return String(key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], words));
}

function placeholders(words: object): string[] {
  return keysOf(words).map(
    (key) => `${key} ${[...new Set(textOf(key, words).match(/\{\w+\}/g) ?? [])].sort().join()}`,
  );
}

/** English texts that are only shown for several things. */
const ALWAYS_MANY: readonly string[] = [
  'calls.newMany',
  'waterfall.loadedOf',
  'shared.showAll',
  'tester.methods',
  'upstreams.acceptAllAsk',
  'upstreams.most',
];

describe('words', () => {
  const keys = new Set(keysOf(en));
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(vue|ts)$/.test(file) && !file.endsWith('.test.ts') && !file.startsWith('words'),
  );
  const text = files.map((file) => readFileSync(join(SOURCES, file), 'utf8')).join('\n');

  it('has the same keys and the same placeholders in both languages', () => {
    expect(placeholders(zh)).toEqual(placeholders(en));
  });

  it('has a singular wherever things are counted in English', () => {
    const isPlural = (key: string): boolean =>
      /\{(count|rows|total)\} ([a-z]+ )?[a-z]+s\b/.test(textOf(key, en)) && !textOf(key, en).includes('|');
    expect([...keys].filter(isPlural).sort()).toEqual([...ALWAYS_MANY].sort());
  });

  it('has every key that the sources use', () => {
    const asked = [...text.matchAll(/\bt\(\s*'([\w.]+)'/g)].map(([, key]) => String(key));
    const chosen = [...text.matchAll(/[?:]\s*'([a-z][A-Za-z]*\.[A-Za-z.]+)'/g)].map(([, key]) => String(key));
    const known = (key: string): boolean => keys.has(key) || !(key.split('.')[0]! in en);
    expect(asked.length).toBeGreaterThan(100);
    expect([...new Set([...asked, ...chosen])].filter((key) => !known(key))).toEqual([]);
  });

  it('has no unused key', () => {
    const groups = new Set([...text.matchAll(/`([\w.]+)\.\$\{/g)].map(([, group]) => String(group)));
    const isSaid = (key: string): boolean =>
      text.includes(`'${key}'`) || groups.has(key.slice(0, key.lastIndexOf('.')));
    expect([...keys].filter((key) => !isSaid(key))).toEqual([]);
  });
});
