import { availableParallelism } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { patternsOf, TIERS, type Tier } from './scripts/tests/tiers.ts';

const SOURCE = 'patchboard-source';

/** A browser on a busy machine takes its time: this only ends what hangs. */
const BROWSER_MS = 240_000;

/**
 * Tests with real processes, sockets and browsers get a second attempt, because one of thousands meets an unlucky moment of
 * a busy machine. The report names it ("retry x1"): find out why. Tests that look for rare faults set 0.
 */
const RETRY = 1;

/**
 * Processes and threads that start from a .ts file find its JavaScript here. Without it each of them strips the types with a
 * WebAssembly module, and V8 may end a process in which many such threads come and go ("Check failed: jit_page.has_value()",
 * nodejs/node#64500).
 */
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/patchboard-tests', import.meta.url),
);

const CLOSE = 'scripts/tests/close-after-file.ts';
const MEMORY_FOLDER = 'scripts/tests/memory-folder.ts';

/**
 * What a tier has besides its files. In the tiers of `npm test` a worker runs many files, one after the other, and loads the
 * server once for all of them; a test that measures a process measures one that it started.
 */
const SETUP: Readonly<Record<Tier, object>> = {
  unit: { setupFiles: ['scripts/tests/in-process-only.ts', CLOSE], isolate: false },
  integration: {
    globalSetup: [MEMORY_FOLDER, 'scripts/tests/build-code-once.ts'],
    setupFiles: [CLOSE],
    isolate: false,
    retry: RETRY,
  },
  browser: {
    globalSetup: [MEMORY_FOLDER, 'scripts/tests/build-once.ts'],
    setupFiles: [CLOSE],
    isolate: false,
    testTimeout: BROWSER_MS,
    hookTimeout: BROWSER_MS,
    retry: RETRY,
  },
  long: {
    globalSetup: ['scripts/tests/build-once.ts'],
    setupFiles: [CLOSE],
    testTimeout: BROWSER_MS,
    hookTimeout: BROWSER_MS,
  },
};

export default defineConfig({
  // Naming one condition replaces vite's defaults. 'module' is left out on purpose: Node itself does not know it,
  // and some packages ship files under it that only a bundler can load.
  ssr: { resolve: { conditions: [SOURCE, 'node', 'development|production'] } },
  test: {
    // For what Node itself loads, such as a worker started from a .ts file.
    execArgv: [`--conditions=${SOURCE}`],
    // Tests wait for processes, pages and databases: with one worker per core, the cores are idle for a third of the time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // A busy machine is no failure: these only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Its default is a second.
    expect: { poll: { timeout: 50_000 } },
    projects: TIERS.map((tier) => ({
      extends: true,
      test: {
        name: tier,
        ...patternsOf(tier),
        ...SETUP[tier],
      },
    })),
  },
});
