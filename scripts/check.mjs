// Runs every check and reports all failures.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = ['wire', 'client', 'patchboard'];

// The formatter reads sources only, so it runs beside the compiler.
const format = run('format', 'prettier', '--check', '--log-level', 'warn', '.');
// Types and code come before the rest: the linter reads the declarations, publint also the code.
const results = await Promise.all([
  run('types', 'tsc', '-b', '--pretty'),
  run('code', process.execPath, join('scripts', 'build-code.mjs')),
]);
results.push(
  ...(await Promise.all([
    format,
    run('lint', 'oxlint', '--type-aware', '--deny-warnings'),
    run('console types', 'vue-tsc', '--noEmit', '-p', join('packages', 'console')),
    run('boundaries', 'vitest', 'run', '--reporter=dot', 'scripts/boundaries.test.ts'),
    run('unused', 'knip', '--no-progress', '--no-config-hints'),
    ...PACKAGES.map((name) => run(`package ${name}`, 'publint', '--strict', join('packages', name))),
  ])),
);
process.exitCode = results.every(Boolean) ? 0 : 1;

/** Prints one line, and the tool's own output only when it fails. */
function run(title, command, ...args) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, shell: process.platform === 'win32' });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const end = (passed) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${passed ? '✓' : '✗'} ${title} (${seconds} s)${passed ? '' : `\n${output.trimEnd()}\n`}`);
      resolve(passed);
    };
    child.on('error', (error) => {
      output += error.message;
      end(false);
    });
    child.on('close', (code) => end(code === 0));
  });
}
