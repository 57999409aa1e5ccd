import { existsSync } from 'node:fs';
import { PatchboardError } from '@patchboard/client';
import { KeyService } from '../core/access/key-service.ts';
import type { ApiKey } from '../core/access/key-index.ts';
import { DEFAULT_TENANT, type Principal } from '../core/access/principal.ts';
import { SCOPES } from '../core/access/scopes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import { acceptLoss, type AcceptedLoss } from '../store/sqlite/accept-loss.ts';
import { readOnlyStore, type ReadOnlyStore } from '../store/sqlite/read-only.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { headFileOf } from '../store/sqlite/store-head.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';
import { StoreInUse } from '../store/sqlite/store-refused.ts';
import { makeDataFolder } from '../settings/make-data-folder.ts';

/** True also where only the head file is left of it. */
export function holdsStore(dataFolder: string): boolean {
  const file = storeFileIn(dataFolder);
  return existsSync(file) || existsSync(headFileOf(file));
}

/** The keys of a data folder that no server uses. The folder is made if it is missing. */
export async function withKeyService<T>(
  dataFolder: string,
  work: (keys: KeyService) => Promise<T>,
): Promise<T> {
  await makeDataFolder(dataFolder);
  const store = await unlocked(dataFolder, () =>
    sqliteStore({ file: storeFileIn(dataFolder), digest: nodeDigest }),
  );
  try {
    const ids = timeOrderedIds(nodeClock);
    const keys = new KeyService({ store, ids, clock: nodeClock, digest: nodeDigest });
    await keys.load();
    return await work(keys);
  } finally {
    await store.close();
  }
}

/** Goes on without what the store lost; null: it lost nothing. */
export async function acceptLossIn(dataFolder: string): Promise<AcceptedLoss | null> {
  const file = storeFileIn(dataFolder);
  return await unlocked(dataFolder, () => acceptLoss(file, nodeDigest, nodeClock.now()));
}

/** For a look only: nothing in the folder changes. */
export async function withReadOnlyStore<T>(
  dataFolder: string,
  work: (store: ReadOnlyStore) => Promise<T>,
): Promise<T> {
  const store = await unlocked(dataFolder, () =>
    Promise.resolve(readOnlyStore(storeFileIn(dataFolder), nodeDigest)),
  );
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

export async function keysIn(store: ReadOnlyStore): Promise<ApiKey[]> {
  return (await store.documents('key')).map(({ body }) => JSON.parse(body) as ApiKey);
}

/** Whoever may write the data folder is its operator. */
export function folderOperator(tenant: string = DEFAULT_TENANT): Principal {
  return {
    kind: 'operator',
    id: 'operator',
    tenant,
    scopes: new Set(SCOPES),
    agentId: 'operator',
    clientId: null,
    credential: null,
  };
}

async function unlocked<T>(dataFolder: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    throw new PatchboardError('problem', `${dataFolder} is in use by a running server`, {
      code: 'data_folder_in_use',
      recommendations: ['give its address with --url or PATCHBOARD_URL, or stop it first'],
    });
  }
}
