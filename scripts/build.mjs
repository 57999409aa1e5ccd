// Builds every package: the code with `build-code.mjs`, the declarations with `tsc -b`; and the console with its bundler. Does
// nothing when no input changed since the last build.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCode } from './build-code.mjs';
import { buildConsole } from './build-console.mjs';
import { filesIn, fingerprintOf } from './fingerprint.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = ['wire', 'client', 'patchboard'].map((name) => join(root, 'packages', name));
// The launcher compares the time of this file with the sources, so it is part of the output.
const stamp = join(root, 'packages', 'patchboard', 'dist', '.built');

// The two builds are independent, and each uses one core.
const [arePackagesBuilt, isConsoleBuilt] = await Promise.all([buildPackages(), buildConsole(root)]);
if (!arePackagesBuilt) fail('the build failed; see the errors above.');
if (!isConsoleBuilt) fail('the console was not built; see the errors of the bundler above.');

async function buildPackages() {
  // Taken before the sources are read: an edit made while the compiler runs counts as newer than the build.
  const startedAt = new Date();
  const fingerprint = fingerprintOf(root, inputs());
  const isCodeBuilt = await buildCode(root);
  if (isCodeBuilt && isCompiled(fingerprint)) {
    utimesSync(stamp, startedAt, startedAt);
    return true;
  }
  rmSync(stamp, { force: true });
  if (!isCodeBuilt || !(await compile())) return false;
  for (const folder of packages) removeOrphans(folder);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint);
  utimesSync(stamp, startedAt, startedAt);
  return true;
}

function compile() {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [compiler, '-b', 'tsconfig.build.json'], {
      cwd: root,
      stdio: 'inherit',
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}

function isCompiled(fingerprint) {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== fingerprint) return false;
  return packages.every((folder) => existsSync(join(folder, 'dist', 'index.d.ts')));
}

function inputs() {
  const files = ['package-lock.json', 'tsconfig.base.json', 'tsconfig.build.json'].map((name) =>
    join(root, name),
  );
  for (const folder of packages) {
    files.push(...filesIn(join(folder, 'src')).filter(isLibrarySource), join(folder, 'package.json'));
    files.push(
      ...readdirSync(folder)
        .filter((name) => /^tsconfig.*\.json$/.test(name))
        .map((name) => join(folder, name)),
    );
  }
  return files;
}

function isLibrarySource(file) {
  return !/\.(test|test-d|contract)\.ts$/.test(file);
}

/** The compiler leaves the output of a deleted or renamed source behind; it must not be published. */
function removeOrphans(folder) {
  const dist = join(folder, 'dist');
  for (const file of filesIn(dist)) {
    const path = relative(dist, file);
    const source = path.replace(/\.d\.ts(\.map)?$/, '.ts');
    if (source === path || path.startsWith('console')) continue; // dist/console is built by its own package
    if (!existsSync(join(folder, 'src', source))) rmSync(file);
  }
}

function fail(message) {
  process.stderr.write(`patchboard: ${message}\n`);
  process.exit(1);
}
