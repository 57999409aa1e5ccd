import { join } from 'node:path';
import type { TenantDirectory } from '../core/access/tenant-directory.ts';
import { messageOf } from '../core/failures.ts';
import type { Clock, Log } from '../core/ports.ts';
import type { Pack } from '../core/tools/server-tool.ts';
import { essentialsPack, type EssentialsOptions } from '../packs/essentials/pack.ts';
import { heritagePack } from '../packs/heritage/pack.ts';
import type { OwnStore } from '../postgres/own-store.ts';
import { ConfigError } from '../settings/config-file.ts';
import type { Settings } from '../settings/settings.ts';
import { indexFileOf } from '../store/sqlite/search/index-file.ts';
import { heritageFile, openHeritageStorage } from './heritage-storage.ts';
import type { PackSurroundings } from './pack-modules.ts';

/** Throws a `ConfigError` if the settings of a tool cannot be used. */
export function essentials(
  settings: Settings,
  {
    storeFile,
    ownStore,
    clock,
  }: { readonly storeFile: string; readonly ownStore: OwnStore | null; readonly clock: Clock },
): Pack {
  const options: EssentialsOptions = {
    weather: settings.weather,
    database: {
      target: settings.queryDatabase,
      sampleFile: join(settings.dataFolder, 'sample.db'),
      forbiddenFiles: [storeFile, indexFileOf(storeFile), heritageFile(settings.dataFolder)],
      ownStore,
    },
    now: () => clock.now(),
  };
  try {
    return essentialsPack(options);
  } catch (error) {
    throw new ConfigError(`tools.${messageOf(error)}`);
  }
}

export function heritage(settings: Settings, tenants: TenantDirectory, clock: Clock): Pack {
  return heritagePack({
    openStorage: () => openHeritageStorage(settings),
    withSample: settings.isDemonstration,
    onlySite: (tenant) => tenants.onlySite(tenant),
    now: () => clock.now(),
  });
}

/** What the server gives the packs of the config. */
export function surroundingsOf(
  { dataFolder }: Settings,
  { log, tenants, clock }: { readonly log: Log; readonly tenants: TenantDirectory; readonly clock: Clock },
): PackSurroundings {
  return {
    dataFolder,
    log,
    now: () => clock.now(),
    onlySite: (tenant) => tenants.onlySite(tenant),
  };
}
