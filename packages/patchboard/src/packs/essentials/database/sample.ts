import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { SAMPLE_SHOP } from './sample-shop.ts';

/** Not a static import: that would fail on an older Node before `node-version.ts` can report the required version. */
const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');

/** Writes the sample shop to `file` unless it exists. The file appears complete, by a rename. */
export async function ensureSample(file: string): Promise<void> {
  if (await exists(file)) return;
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    using database = new Database(draft);
    database.exec(`BEGIN; ${SAMPLE_SHOP}; COMMIT`);
    database.close();
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
