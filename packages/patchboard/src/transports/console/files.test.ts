import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConsoleFiles } from './files.ts';

function build(folder: string, name: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'index.html'), name);
  writeFileSync(join(folder, 'assets', `page-${name}.js`), name);
  writeFileSync(join(folder, 'assets', `chart-${name}.js`), name);
}

it('finds no file of an earlier build that a new one removed, and then the files of the new one', () => {
  const parent = mkdtempSync(join(tmpdir(), 'console-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'console');
  const files = new ConsoleFiles(folder);
  const text = (path: string): string | undefined => files.find(path)?.bytes.toString();
  build(folder, 'one');
  expect(text('index.html')).toBe('one');
  expect(text('assets/page-one.js')).toBe('one');
  build(folder, 'two');
  expect(text('assets/chart-one.js')).toBeUndefined();
  expect(text('index.html')).toBe('two');
  expect(text('assets/chart-two.js')).toBe('two');
  // It was read before: a tab that is still open may get it.
  expect(text('assets/page-one.js')).toBe('one');
});

it('finds the files that a build wrote after the folder was listed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = new ConsoleFiles(folder);
  build(folder, 'one');
  utimesSync(join(folder, 'assets'), 1, 1);
  expect(files.find('assets/page-two.js')).toBeNull();
  writeFileSync(join(folder, 'assets', 'page-two.js'), 'two');
  expect(files.find('assets/page-two.js')?.bytes.toString()).toBe('two');
});
