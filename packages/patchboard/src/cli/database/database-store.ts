import type { KeyService } from '../../core/access/key-service.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { nodeClock } from '../../runtime/node-clock.ts';
import { postgresStore, readPostgresStore, type PostgresStoreOptions } from '../../store/postgres/open.ts';
import type { ReadPostgresStore } from '../../store/postgres/reading-store.ts';
import type { DatabaseLocation } from '../store-location.ts';
import { withKeysOf } from '../unused-store.ts';

/** Runs `work` with the keys of a database that no server uses. Creates a missing schema. */
export async function withDatabaseKeys<T>(
  location: DatabaseLocation,
  work: (keys: KeyService) => Promise<T>,
): Promise<T> {
  return await withKeysOf(location.shown, () => postgresStore(optionsOf(location)), work);
}

/** Runs `work` with a store that is only read, also while a server uses it. */
export async function withReadDatabase<T>(
  location: DatabaseLocation,
  work: (store: ReadPostgresStore) => Promise<T>,
): Promise<T> {
  const store = await readPostgresStore(optionsOf(location));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Statements are not prepared: a command sends each of them once, and works behind every pooler. */
function optionsOf({ url, schema }: DatabaseLocation): PostgresStoreOptions {
  return {
    url,
    schema,
    prepare: false,
    digest: nodeDigest,
    now: () => nodeClock.now(),
    firstIdAt: firstCallIdAt,
  };
}
