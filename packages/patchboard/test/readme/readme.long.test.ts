import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/server-process.ts';
import { walkThrough } from './walkthrough.ts';

const LONG = 120_000;

// Every guide. The blocks of README.zh-CN.md are the same, see same-in-both.test.ts.
describe.each([
  'README.md',
  'CONTRIBUTING.md',
  'docs/configuration.md',
  ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`),
])('%s', (file) => {
  it('shows commands and programs that do what it says', { timeout: LONG }, async () => {
    expect(await walkThrough(file)).toEqual([]);
  });
});
