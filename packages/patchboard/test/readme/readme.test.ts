import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/server-process.ts';
import { misfit } from './expected-output.ts';
import { walkThrough } from './walkthrough.ts';

// readme.long.test.ts walks through every guide.
describe('README.md', () => {
  it('shows commands and programs that do what it says', { timeout: 120_000 }, async () => {
    expect(await walkThrough('README.md')).toEqual([]);
  });
});

describe('what a reader types without a test', () => {
  it('exists: npm start installs, builds and serves', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['prestart']).toContain('scripts/setup.mjs');
    expect(scripts['start']).toContain('scripts/build.mjs');
    expect(scripts['start']).toMatch(/exec node \S+patchboard\.mjs serve$/);
    for (const name of ['build', 'test', 'check', 'bench', 'chaos']) expect(scripts).toHaveProperty(name);
  });
});

describe('the comparison of outputs', () => {
  const id = (letter: string): string => `tc_${letter.repeat(26)}`;

  it('accepts the shown members and more', () => {
    const shown = '{"status": "SUCCEEDED", "created_at": 1, "result": {"text": "a … z"}}';
    const real = '{"status":"SUCCEEDED","created_at":17,"result":{"text":"a b z"},"error":null}';
    expect(misfit('json', shown, real, new Map())).toBeNull();
  });

  it('says where a value differs', () => {
    expect(misfit('json', '{"a": {"b": 1}}', '{"a":{"b":2}}', new Map())).toContain('/a/b');
    expect(misfit('json', '{"a": [1]}', '{"a":[1,2]}', new Map())).toContain('/a');
    expect(misfit('text', '42', '43', new Map())).toContain('43');
  });

  it('requires an id to stand for the same real id everywhere', () => {
    const ids = new Map<string, string>();
    const shown = JSON.stringify({ id: id('a') });
    expect(misfit('json', shown, JSON.stringify({ id: id('b') }), ids)).toBeNull();
    expect(misfit('json', shown, JSON.stringify({ id: id('b') }), ids)).toBeNull();
    expect(misfit('json', shown, JSON.stringify({ id: id('c') }), ids)).not.toBeNull();
  });
});
