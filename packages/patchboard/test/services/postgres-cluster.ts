import { spawnSync } from 'node:child_process';
import type { SpawnSyncOptions } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../support/server-process.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

const CACHE = join(ROOT, 'node_modules', '.cache', 'postgres');

const ARGS = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
/** Sorts text as a person would (ICU), which is what most servers do and shows where an order depends on it. */
const LOCALE = ['--locale-provider=icu', '--icu-locale=en-US'];

/**
 * Makes the data folder of a new server. `initdb` takes most of a second of CPU time, so it runs once for each release of PostgreSQL,
 * and every data folder is a copy of its result. `data` does not exist yet; its parent belongs to the user of the server.
 */
export function createCluster(binaries: PostgresBinaries, data: string, options: SpawnSyncOptions): void {
  const args = [...ARGS, ...(binaries.version >= 15 ? LOCALE : [])];
  const key = createHash('sha256')
    .update([binaries.release, options.uid, ...args].join(' '))
    .digest('hex');
  const made = join(CACHE, key.slice(0, 16));
  if (!existsSync(made)) {
    run(join(binaries.folder, 'initdb'), ['-D', data, ...args], options);
    keep(data, made);
    return;
  }
  run('cp', ['-a', made, data], {});
}

/** Two workers may do this at once: the first one to rename its copy wins. */
function keep(data: string, made: string): void {
  const copy = `${made}.${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  run('cp', ['-a', data, copy], {});
  try {
    renameSync(copy, made);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(made)) throw error;
  }
}

function run(program: string, args: readonly string[], options: SpawnSyncOptions): void {
  const result = spawnSync(program, args, { ...options, encoding: 'utf8', stdio: 'pipe' });
  if (result.status !== 0)
    throw new Error(`${program} failed: ${result.error?.message ?? String(result.stderr)}`);
}
