import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is gone when the test has ended. */
export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
