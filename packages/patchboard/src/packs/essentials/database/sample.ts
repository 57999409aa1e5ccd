import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { SAMPLE_SHOP } from './sample-shop.ts';

/** Writes the sample shop to `file` unless it is there; nobody ever sees half of it. */
export async function ensureSample(file: string): Promise<void> {
  if (await exists(file)) return;
  await mkdir(dirname(file), { recursive: true });
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    using database = new DatabaseSync(draft);
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
