// Builds every package with `tsc -b`, and does nothing when no input changed since the last build.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = ['wire', 'client', 'patchboard'].map((name) => join(root, 'packages', name));
// The launcher compares the time of this file with the sources, so it lies in the output it speaks for.
const stamp = join(root, 'packages', 'patchboard', 'dist', '.built');

// Taken before the sources are read: an edit made while the compiler runs counts as newer than the build.
const startedAt = new Date();
const fingerprint = fingerprintInputs();

if (isBuilt()) {
  utimesSync(stamp, startedAt, startedAt);
} else {
  rmSync(stamp, { force: true });
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const result = spawnSync(process.execPath, [compiler, '-b', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (result.status !== 0) {
    process.stderr.write('patchboard: the build failed; the compiler says why above.\n');
    process.exit(1);
  }
  for (const folder of packages) removeOrphans(folder);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint);
  utimesSync(stamp, startedAt, startedAt);
}

function isBuilt() {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== fingerprint) return false;
  return packages.every(
    (folder) => !existsSync(join(folder, 'src', 'index.ts')) || existsSync(join(folder, 'dist', 'index.js')),
  );
}

function fingerprintInputs() {
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
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(root, file)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function isLibrarySource(file) {
  return !/\.(test|test-d|contract)\.ts$/.test(file);
}

/** The compiler leaves the output of a deleted or renamed source behind; it must not be published. */
function removeOrphans(folder) {
  const dist = join(folder, 'dist');
  for (const file of filesIn(dist)) {
    const path = relative(dist, file);
    const source = path.replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts');
    if (source === path || path.startsWith('console')) continue; // dist/console is built by its own package
    if (!existsSync(join(folder, 'src', source))) rmSync(file);
  }
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
