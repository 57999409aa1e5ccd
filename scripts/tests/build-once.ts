import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Setup of the tiers that open the console: builds it before the first test if the sources are newer than the build. */
export function setup(): void {
  const script = join(import.meta.dirname, '..', 'build.mjs');
  const built = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the build failed: ${built.stdout}${built.stderr}`);
}
