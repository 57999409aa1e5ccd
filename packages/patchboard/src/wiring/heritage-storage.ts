import { join } from 'node:path';
import { HERITAGE_FILE } from '../packs/heritage/names.ts';
import { postgresHeritageStorage } from '../packs/heritage/postgres/postgres-storage.ts';
import { sqliteHeritageStorage } from '../packs/heritage/sqlite/sqlite-storage.ts';
import type { HeritageStorage } from '../packs/heritage/storage.ts';
import type { Settings } from '../settings/settings.ts';

/** The heritage data is where the store is: in its database, or in a file of the data folder. */
export async function openHeritageStorage({
  store,
  dataFolder,
}: Pick<Settings, 'store' | 'dataFolder'>): Promise<HeritageStorage> {
  return store.kind === 'postgres'
    ? await postgresHeritageStorage(store)
    : sqliteHeritageStorage(heritageFile(dataFolder));
}

export function heritageFile(dataFolder: string): string {
  return join(dataFolder, HERITAGE_FILE);
}
