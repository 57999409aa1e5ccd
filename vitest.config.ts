import { defineConfig } from 'vitest/config';

const SOURCE = 'patchboard-source';

export default defineConfig({
  // Naming one condition replaces vite's defaults. 'module' is left out on purpose: Node itself does not know it,
  // and some packages ship files under it that only a bundler can load.
  ssr: { resolve: { conditions: [SOURCE, 'node', 'development|production'] } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    // For what Node itself loads, such as a worker started from a .ts file.
    execArgv: [`--conditions=${SOURCE}`],
    // Most tests wait for a process, a socket or a browser: one worker per core, and not one core less, as is the default.
    maxWorkers: '100%',
    // A busy machine is no failure: these only end what hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
