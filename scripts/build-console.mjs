// Builds the console into the server package, and does nothing when no input changed since the last build.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { filesIn, fingerprintOf } from './fingerprint.mjs';

const COMPRESSED = ['.html', '.js', '.css', '.svg', '.txt'];
const compress = promisify(brotliCompress);

/** Resolves to true if the build succeeded; errors go to stderr. */
export async function buildConsole(root) {
  const folder = join(root, 'packages', 'console');
  const built = join(root, 'packages', 'patchboard', 'dist', 'console');
  // Stored beside the output folder, which the bundler empties.
  const stamp = join(root, 'packages', 'patchboard', 'dist', '.console-built');
  const fingerprint = fingerprintOf(root, inputsOf(root, folder));
  const isBuilt = existsSync(join(built, 'index.html')) && readText(stamp) === fingerprint;
  if (isBuilt) return true;
  rmSync(stamp, { force: true });
  const passed = await run(join(root, 'node_modules', 'vite', 'bin', 'vite.js'), folder);
  if (!passed) return false;
  await compressAll(built);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint);
  return true;
}

function inputsOf(root, folder) {
  const isSource = (file) => !file.endsWith('.test.ts');
  return [
    join(root, 'package-lock.json'),
    join(root, 'tsconfig.base.json'),
    join(root, 'scripts', 'build-console.mjs'),
    ...['index.html', 'package.json', 'tsconfig.json', 'vite.config.ts'].map((name) => join(folder, name)),
    ...filesIn(join(folder, 'public')),
    ...['console', 'client', 'wire'].flatMap((name) =>
      filesIn(join(root, 'packages', name, 'src')).filter(isSource),
    ),
  ];
}

/** Writes the brotli form beside each file: the server would take seconds for it. */
async function compressAll(folder) {
  const files = filesIn(folder).filter((file) => COMPRESSED.includes(extname(file)));
  await Promise.all(
    files.map(async (file) => writeFileSync(`${file}.br`, await compress(readFileSync(file)))),
  );
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function run(script, cwd) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, 'build', '--logLevel', 'warn'], {
      cwd,
      stdio: ['ignore', 2, 2],
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}
