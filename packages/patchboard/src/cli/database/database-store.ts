import { PatchboardError } from '@patchboard/client';
import { KeyService } from '../../core/access/key-service.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { firstIdAt, timeOrderedIds } from '../../runtime/ids.ts';
import { nodeClock } from '../../runtime/node-clock.ts';
import {
  postgresStore,
  readPostgresStore,
  type PostgresStoreOptions,
  type ReadPostgresStore,
} from '../../store/postgres/open.ts';
import { StoreInUse } from '../../store/store-refused.ts';
import type { DatabaseLocation } from '../store-location.ts';

/** Runs `work` with the keys of a database that no server uses. Creates a missing schema. */
export async function withDatabaseKeys<T>(
  location: DatabaseLocation,
  work: (keys: KeyService) => Promise<T>,
): Promise<T> {
  const store = await openUnused(location, () => postgresStore(optionsOf(location)));
  try {
    const ids = timeOrderedIds(nodeClock);
    const keys = new KeyService({ store, ids, clock: nodeClock, digest: nodeDigest });
    await keys.load();
    return await work(keys);
  } finally {
    await store.close();
  }
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
    firstIdAt: (ms) => firstIdAt('tc_', ms),
  };
}

/** Converts `StoreInUse` to an error with advice. */
async function openUnused<T>({ shown }: DatabaseLocation, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    throw new PatchboardError('problem', `${shown} is in use by a running server`, {
      code: 'data_folder_in_use',
      recommendations: ['pass its address with --url or PATCHBOARD_URL, or stop it first'],
    });
  }
}
