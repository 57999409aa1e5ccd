import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findStarterImports } from './starter-imports.ts';
import { patternsOf, TIERS, type Tier } from './tiers.ts';

const root = join(import.meta.dirname, '..', '..');

const OUTSIDE = ['**/node_modules/**', '**/dist/**'];

function filesOf(include: readonly string[], exclude: readonly string[] = OUTSIDE): string[] {
  return globSync([...include], { cwd: root, exclude: [...exclude] }).map((path) =>
    path.replaceAll('\\', '/'),
  );
}

function tierFiles(tier: Tier): string[] {
  const { include, exclude } = patternsOf(tier);
  return filesOf(include, exclude);
}

describe('every test file', () => {
  const tiers = new Map(TIERS.map((tier) => [tier, new Set(tierFiles(tier))]));
  const files = filesOf(['**/*.test.ts']);

  it('is in exactly one tier', () => {
    expect(files.length).toBeGreaterThan(300);
    const wrong = files
      .map((file) => ({ file, tiers: TIERS.filter((tier) => tiers.get(tier)?.has(file)) }))
      .filter((found) => found.tiers.length !== 1);
    expect(wrong).toEqual([]);
    for (const tier of TIERS) expect(tiers.get(tier)?.size, tier).toBeGreaterThan(0);
  });

  it('waits with test/support/wait-for.ts, because the limit of vi.waitFor is a second', () => {
    const support = filesOf(['packages/*/test/**/*.ts']).filter((path) => !path.endsWith('/wait-for.ts'));
    const shortWait = new RegExp(String.raw`\bvi\.wait(For|Until)\(`);
    const wrong = [...new Set([...files, ...support])].filter((path) =>
      shortWait.test(readFileSync(join(root, path), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a unit test', () => {
  const builtin: typeof process.getBuiltinModule = (id: string) => process.getBuiltinModule(id);

  it.each([
    ['a process', () => builtin('node:child_process').spawn('true')],
    ['a worker', () => new (builtin('node:worker_threads').Worker)('0', { eval: true })],
    ['a server', () => builtin('node:net').createServer().listen(0)],
    ['a connection', () => builtin('node:http').get('http://127.0.0.1:1')],
  ])('that starts %s fails', (_what, start) => {
    expect(start).toThrow(/in a unit test: rename the file to \*\.integration\.test\.ts/);
  });

  it('imports nothing that starts a process, a worker, a socket or a browser', () => {
    const read = (path: string) => readFileSync(join(root, path), 'utf8');
    expect(tierFiles('unit').flatMap((file) => findStarterImports(file, read))).toEqual([]);
  });
});
