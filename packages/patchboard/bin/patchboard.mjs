#!/usr/bin/env node
// Starts the CLI from the built output or, in a clone where that is missing or out of date, from the sources.
// This file is committed rather than built, so that `npx patchboard` works right after an install.
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(folder, 'dist', 'cli', 'main.js');
const source = join(folder, 'src', 'cli', 'main.ts');

const isNodeOld = Number(process.versions.node.split('.')[0]) < 24;

if (isBridge(process.argv.slice(2))) {
  const { main } = await import('./patchboard-mcp.mjs');
  await main(process.argv.slice(3));
} else if (isNodeOld) {
  process.stderr.write(`patchboard needs Node 24 or newer; this is ${process.version}.\n`);
  process.exitCode = 2;
} else if (timeOf(source) === undefined || isBuildCurrent()) await import(pathToFileURL(built).href);
else await runFromSource();

/** `patchboard mcp` also runs on an older Node. A newer one prints its help and runs commands such as `mcp config`. */
function isBridge([command, ...rest]) {
  if (command !== 'mcp' || (rest.length > 0 && !rest[0].startsWith('-'))) return false;
  return isNodeOld || !rest.some((word) => word === '--help' || word === '-h');
}

/** The build script sets the time of `dist/.built` to the moment it began to read the sources. */
function isBuildCurrent() {
  const builtAt = timeOf(join(folder, 'dist', '.built'));
  if (builtAt === undefined || timeOf(built) === undefined) return false;
  const packages = [join(folder, '..', 'wire'), join(folder, '..', 'client'), folder];
  return packages.every((path) => newestIn(join(path, 'src')) <= builtAt);
}

/** Folders count too: their time is the only trace of a deleted file. */
function newestIn(path) {
  let newest = timeOf(path) ?? 0;
  if (newest === 0) return newest;
  for (const entry of readdirSync(path, { recursive: true })) {
    newest = Math.max(newest, timeOf(join(path, entry)) ?? 0);
  }
  return newest;
}

function timeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

async function runFromSource() {
  const args = [...process.execArgv, '--conditions=patchboard-source', source, ...process.argv.slice(2)];
  // Replacing this process keeps its id, so signals reach the CLI itself.
  if (process.platform !== 'win32')
    process.execve(process.execPath, [process.execPath, ...args], process.env);

  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
}
