import type { Log, Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { ConfigError } from '../settings/config-file.ts';
import type { Settings } from '../settings/settings.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';

/** Opens the store that the settings name. */
export async function openStore({ store, dataFolder }: Settings, log: Log): Promise<Store> {
  if (store.kind === 'sqlite')
    return await sqliteStore({ file: storeFileIn(dataFolder), digest: nodeDigest, log });
  throw new ConfigError('this version does not support PostgreSQL yet: unset DATABASE_URL and store.url');
}
