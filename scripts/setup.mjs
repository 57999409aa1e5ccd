// Installs missing dependencies. It runs before anything is installed, so it has no dependency and must work
// on the machine's own Node.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');

const reason = reasonToInstall();
if (reason !== undefined) {
  const started = Date.now();
  process.stderr.write(`patchboard: installing dependencies (${reason}); this takes a minute or so…\n`);
  install();
  process.stderr.write(`patchboard: dependencies ready in ${Math.round((Date.now() - started) / 1000)} s\n`);
}
if (!hasNode24()) {
  fail(
    'Node 24 is missing: the "node" package has no binary here. Allow its install script, or install Node 24.',
  );
}

/**
 * Compares the installed packages with the lockfile by content, because file times change with every
 * checkout.
 */
function reasonToInstall() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing or unreadable; restore it with git.');
  const installed = packagesOf(join(modules, '.package-lock.json'));
  if (installed === undefined) return 'first run';
  for (const [path, entry] of Object.entries(wanted)) {
    if (!path.includes('node_modules/')) continue; // the root and the workspaces themselves
    const found = installed[path];
    // Optional packages are mostly builds for other platforms.
    if (found === undefined ? !entry.optional : found.version !== entry.version)
      return 'the lockfile changed';
  }
  return hasNode24() ? undefined : 'Node 24 is missing';
}

function packagesOf(lockfile) {
  try {
    return JSON.parse(readFileSync(lockfile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

function hasNode24() {
  const binary = process.platform === 'win32' ? 'node.exe' : 'node';
  return (
    existsSync(join(modules, 'node', 'bin', binary)) || Number(process.versions.node.split('.')[0]) >= 24
  );
}

function install() {
  // Development dependencies hold the compiler and Node itself, so NODE_ENV=production must not drop them.
  // Warnings are hidden because npm compares engines with the Node it runs on, not with the one it installs.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const options = { cwd: root, stdio: ['ignore', 2, 2] };
  const result = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (result.error) fail(`cannot start npm: ${result.error.message}`);
  if (result.signal) fail(`npm ci was stopped by ${result.signal}`);
  if (result.status !== 0) fail(`npm ci failed with exit code ${result.status}; its message is above.`);
}

function fail(message) {
  process.stderr.write(`patchboard: ${message}\n`);
  process.exit(1);
}
