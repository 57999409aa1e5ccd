import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findBreaches } from './boundaries.ts';

const root = join(import.meta.dirname, '..');

describe('the sources of every package', () => {
  it('follow the import rules', () => {
    const files = globSync('packages/*/src/**/*.{ts,vue}', { cwd: root })
      .map((path) => path.replaceAll('\\', '/'))
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
    for (const ending of ['.ts', '.vue']) {
      expect(files.filter(({ path }) => path.endsWith(ending)).length).toBeGreaterThan(0);
    }
    expect(findBreaches(files)).toEqual([]);
  });
});

const PATCHBOARD = 'packages/patchboard/src';

describe('findBreaches', () => {
  it.each([
    ['packages/wire/src/a.ts', "import 'node:fs';", 'wire must not import the package "node:fs"'],
    ['packages/wire/src/a.ts', "import { b } from '@patchboard/client';", 'wire must not import client'],
    ['packages/client/src/a.ts', "import ws from 'ws';", 'client must not import the package "ws"'],
    ['packages/client/src/a.ts', "import { ref } from 'vue';", 'client must not import the package "vue"'],
    ['packages/client/src/a.ts', "import { b } from '../../wire/src/b.ts';", 'leaves the package'],
    ['packages/console/src/a.ts', "import { b } from 'patchboard';", 'console must not import top'],
    [
      'packages/console/src/a.vue',
      `<template><p /></template>\n<script setup lang="ts">\nimport { b } from 'patchboard';\n</script>`,
      'console must not import top',
    ],
    [
      `${PATCHBOARD}/core/a.ts`,
      "import type { B } from '../store/memory/memory-store.ts';",
      'core must not import store',
    ],
    [
      `${PATCHBOARD}/core/a.ts`,
      "export type B = import('node:fs').Stats;",
      'core must not import the package "node:fs"',
    ],
    [`${PATCHBOARD}/core/a.ts`, "import { b } from '../wiring/platform.ts';", 'core must not import top'],
    [`${PATCHBOARD}/core/a.ts`, 'export type Origin = { npcId: string };', 'core must not know "npcId"'],
    [`${PATCHBOARD}/core/a.ts`, 'export const sessionCookie = 1;', 'core must not know "sessionCookie"'],
    [`${PATCHBOARD}/sdk/a.ts`, "import { b } from '../agent/b.ts';", 'sdk must not import agent'],
    [`${PATCHBOARD}/core/a.ts`, "import { b } from '../cluster/b.ts';", 'core must not import cluster'],
    [`${PATCHBOARD}/cluster/a.ts`, "import { b } from '../bus/b.ts';", 'cluster must not import bus'],
    [`${PATCHBOARD}/cluster/a.ts`, "import 'node:timers';", 'cluster must not import the package'],
    [`${PATCHBOARD}/bus/a.ts`, "import { b } from '../store/b.ts';", 'bus must not import store'],
    [
      `${PATCHBOARD}/core/call/a.ts`,
      "import type { B } from '../steps/b.ts';",
      'core/call must not import core/steps, which is a layer above it',
    ],
    [
      `${PATCHBOARD}/core/providers/a.ts`,
      "import { b } from '../engine.ts';",
      'core/providers must not import core/engine.ts, which is a layer above it',
    ],
    [
      `${PATCHBOARD}/core/limits.ts`,
      "import { b } from './devices/b.ts';",
      'core/. must not import core/devices, which is a layer above it',
    ],
    [`${PATCHBOARD}/core/bus/a.ts`, "import { b } from '../ports.ts';", 'core/bus is in no layer of core'],
    [
      `${PATCHBOARD}/protocols/vcp/a.ts`,
      "import { b } from '../../agent/b.ts';",
      'protocols must not import agent',
    ],
    [
      `${PATCHBOARD}/sources/mcp/a.ts`,
      "import { b } from '../devices/b.ts';",
      'sources/mcp must not import sources/devices',
    ],
    [`${PATCHBOARD}/sources/mcp/a.ts`, "import { b } from '../../sdk/b.ts';", 'must not import sdk'],
    [
      `${PATCHBOARD}/protocols/mcp/a.ts`,
      "import { b } from '../../sources/mcp/b.ts';",
      'must not import sources',
    ],
    [`${PATCHBOARD}/store/sqlite/a.ts`, "await import('../../bus/nats.ts');", 'store must not import bus'],
    [
      `${PATCHBOARD}/packs/essentials/a.ts`,
      "export { b } from '../../sandbox/probe.ts';",
      'must not import sandbox',
    ],
    [
      `${PATCHBOARD}/transports/tenant-api/a.ts`,
      "import { b } from '../agent-api/b.ts';",
      'must not import transports/agent-api',
    ],
    [
      `${PATCHBOARD}/transports/shared/a.ts`,
      "import { b } from '../agent-api/b.ts';",
      'must not import transports/agent-api',
    ],
    [`${PATCHBOARD}/store/a.ts`, "import { b } from '@patchboard/client';", 'store must not import client'],
    [
      `${PATCHBOARD}/bus/a.ts`,
      'const { env } = process;',
      'only settings/environment.ts reads the environment',
    ],
    [
      `${PATCHBOARD}/cli/serve.ts`,
      "const port = process.env['PORT'];",
      'only settings/environment.ts reads the environment',
    ],
    [
      `${PATCHBOARD}/cli/serve.ts`,
      "import { env } from 'node:process';",
      'only settings/environment.ts reads the environment',
    ],
    [`${PATCHBOARD}/index.ts`, "export * from './core/engine.ts';", '"export *" hides what is public'],
    [`${PATCHBOARD}/core/utils.test.ts`, '', '"utils" names nothing'],
  ])('reports %s with %s', (path, text, problem) => {
    const breaches = findBreaches([{ path, text }]);
    expect(breaches).toHaveLength(1);
    expect(breaches[0]).toContain(problem);
  });

  it.each([
    ['packages/client/src/a.ts', "import type { B } from '@patchboard/wire';"],
    ['packages/client/src/vue.ts', "import { ref } from 'vue';"],
    [
      'packages/console/src/a.vue',
      `<script setup lang="ts">\nimport b from './B.vue';\n</script>\n<template><p>import 'patchboard'</p></template>`,
    ],
    [`${PATCHBOARD}/core/a.ts`, "// import fs from 'node:fs'\nimport { b } from './call/b.ts';"],
    [`${PATCHBOARD}/agent/a.ts`, "import { b } from '../protocols/vcp/b.ts';"],
    [`${PATCHBOARD}/sources/mcp/a.ts`, "import { b } from '../../protocols/mcp/b.ts';"],
    [`${PATCHBOARD}/sdk/a.ts`, "import { b } from '../protocols/b.ts';"],
    [`${PATCHBOARD}/core/a.ts`, "// npcId\nexport const KIND = 'todo';"],
    [`${PATCHBOARD}/transports/tenant-api/a.ts`, 'export const npcId = 1;'],
    [
      `${PATCHBOARD}/transports/agent-api/a.ts`,
      "import fastify from 'fastify';\nimport { b } from '../shared/b.ts';",
    ],
    [`${PATCHBOARD}/store/sqlite/a.ts`, "import { b } from '../schema.ts';\nimport 'node:sqlite';"],
    [`${PATCHBOARD}/wiring/platform.ts`, "import { b } from '../store/memory/memory-store.ts';"],
    [`${PATCHBOARD}/settings/environment.ts`, 'const { env } = process;'],
    [`${PATCHBOARD}/core/engine.test.ts`, "import { b } from '../store/memory/memory-store.ts';"],
  ])('accepts %s with %s', (path, text) => {
    expect(findBreaches([{ path, text }])).toEqual([]);
  });
});
