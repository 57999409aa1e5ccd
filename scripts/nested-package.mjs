// Packages beside the workspaces, each with its own lockfile: what they install is never installed for users.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Installs the dependencies of `folder`, a path from the root, if they are missing or unlike its lockfile. */
export function installNestedPackage(folder) {
  const path = join(ROOT, folder);
  if (!existsSync(join(path, 'package-lock.json')))
    fail(`${folder}/package-lock.json is missing; restore it with git.`);
  if (isInstalled(path)) return;
  process.stderr.write(`patchboard: installing ${folder}…\n`);
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const options = { cwd: path, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
  if (spawnSync('npm', args, options).status === 0) return;
  fail(
    `npm ci failed in ${folder}/; its message is above. It needs the npm registry once: without a network, run it where there is one and copy ${folder}/node_modules.`,
  );
}

/** Runs a program of the sources, a path from the root, with the arguments of this process, and ends as it does. */
export function runSource(program) {
  const args = ['--conditions=patchboard-source', join(ROOT, program), ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}

/** Compares by content, because file times change with every checkout. */
function isInstalled(path) {
  const wanted = packagesIn(join(path, 'package-lock.json'));
  const installed = packagesIn(join(path, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || installed === undefined) return false;
  return Object.entries(wanted).every(([name, { version, optional }]) => {
    // The package itself; and optional packages, which are mostly builds for other platforms.
    if (name === '' || (optional && installed[name] === undefined)) return true;
    return installed[name]?.version === version;
  });
}

function packagesIn(lockfile) {
  try {
    return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function fail(message) {
  process.stderr.write(`patchboard: ${message}\n`);
  process.exit(1);
}
