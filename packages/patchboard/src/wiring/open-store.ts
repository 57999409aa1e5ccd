import type { Log, Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { firstCallIdAt } from '../runtime/ids.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import type { Settings } from '../settings/settings.ts';
import type { PostgresSettings } from '../settings/store-settings.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';

/** Opens the store that the settings name. */
export async function openStore({ store, dataFolder }: Settings, log: Log): Promise<Store> {
  return store.kind === 'sqlite'
    ? await sqliteStore({ file: storeFileIn(dataFolder), digest: nodeDigest, log })
    : await openPostgresStore(store, log);
}

/**
 * Opens a store that other nodes may use too: `openCluster` begins the heartbeat of this one. Rejects with `StoreRefused` if
 * the database cannot be used.
 */
export async function openPostgresStore(
  { url, schema, prepare }: Pick<PostgresSettings, 'url' | 'schema' | 'prepare'>,
  log: Log | undefined,
): Promise<Store> {
  // Loaded on demand: a server on SQLite does not need the driver.
  const { postgresStore } = await import('../store/postgres/open.ts');
  return await postgresStore({
    url,
    schema,
    prepare,
    digest: nodeDigest,
    log,
    now: () => nodeClock.now(),
    firstIdAt: firstCallIdAt,
    nodes: 'many',
  });
}
