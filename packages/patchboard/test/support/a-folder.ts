import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterUse } from './after-use.ts';

/** A folder that is removed when the test, or outside of a test the file, has ended. */
export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
  afterUse(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
