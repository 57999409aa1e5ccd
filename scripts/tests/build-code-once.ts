import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Setup of the tiers that start the command line: writes its code before the first test if a source has changed. */
export function setup(): void {
  const script = join(import.meta.dirname, '..', 'build-code.mjs');
  const built = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the build failed: ${built.stdout}${built.stderr}`);
}
