// Runs the benchmark, a separate package outside the workspaces, so that the compared packages are never
// installed for users. Passes its arguments on.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bench');
if (!existsSync(join(bench, 'main.ts'))) fail('bench/main.ts is missing.');

if (needsInstall()) {
  process.stderr.write('patchboard: installing the benchmark…\n');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: bench, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
  if (spawnSync('npm', args, options).status !== 0) fail('npm ci failed in bench/; its message is above.');
}

const args = ['--conditions=patchboard-source', join(bench, 'main.ts'), ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));

function needsInstall() {
  const lockfile = join(bench, 'package-lock.json');
  if (!existsSync(lockfile)) return false;
  const installed = statSync(join(bench, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return installed === undefined || installed.mtimeMs < statSync(lockfile).mtimeMs;
}

function fail(message) {
  process.stderr.write(`patchboard: ${message}\n`);
  process.exit(1);
}
