import { describe, expect, it } from 'vitest';
import { findStarterImports } from './starter-imports.ts';

const TEST = 'packages/patchboard/src/core/a.test.ts';

function found(files: Record<string, string>): string[] {
  return findStarterImports(TEST, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`${path} was read`);
    return text;
  });
}

describe('findStarterImports', () => {
  it.each([
    ["import { spawn } from 'node:child_process';", 'node:child_process'],
    ["import http, { type Server } from 'node:http';", 'node:http'],
    ["await import('playwright-core');", 'playwright-core'],
    ["export { WebSocket } from 'ws';", 'ws'],
  ])('reports %s', (text, module) => {
    expect(found({ [TEST]: text })).toEqual([`${TEST} imports ${module}`]);
  });

  it('reports transitive imports through test support', () => {
    const support = 'packages/patchboard/test/support';
    expect(
      found({
        [TEST]: "import { b } from '../../test/support/b.ts';",
        [`${support}/b.ts`]: "import { c } from './c.ts';",
        [`${support}/c.ts`]: "import 'node:net';",
      }),
    ).toEqual([`${support}/c.ts imports node:net`]);
  });

  it.each([
    "import type { Server } from 'node:http';",
    "import { type Server } from 'node:http';",
    "export type { Server } from 'node:http';",
    "import { code } from '../under-test.ts';",
    "import { readFileSync } from 'node:fs';",
  ])('leaves out %s', (text) => {
    expect(found({ [TEST]: text })).toEqual([]);
  });
});
