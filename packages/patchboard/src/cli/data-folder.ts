import { existsSync } from 'node:fs';
import type { KeyService } from '../core/access/key-service.ts';
import type { ApiKey } from '../core/access/key-index.ts';
import { DEFAULT_TENANT, type Principal } from '../core/access/principal.ts';
import { SCOPES } from '../core/access/scopes.ts';
import type { Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import { acceptLoss, type AcceptedLoss } from '../store/sqlite/accept-loss.ts';
import { readOnlyStore, type ReadOnlyStore } from '../store/sqlite/read-only.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { headFileOf } from '../store/sqlite/store-head.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';
import { copyUnusedStore } from '../store/sqlite/unused-store.ts';
import type { DatabaseCopy } from '../store/sqlite/copy-database.ts';
import { makeDataFolder } from '../settings/make-data-folder.ts';
import { openUnused, withKeysOf } from './unused-store.ts';

/** Returns true also if only the head file of a store is left. */
export function holdsStore(dataFolder: string): boolean {
  const file = storeFileIn(dataFolder);
  return existsSync(file) || existsSync(headFileOf(file));
}

/** Runs `work` with the keys of a data folder that no server uses. Creates a missing folder. */
export async function withKeyService<T>(
  dataFolder: string,
  work: (keys: KeyService) => Promise<T>,
): Promise<T> {
  await makeDataFolder(dataFolder);
  const open = (): Promise<Store> => sqliteStore({ file: storeFileIn(dataFolder), digest: nodeDigest });
  return await withKeysOf(dataFolder, open, work);
}

/** Accepts the loss of a store, so that a server can start with it. Resolves to null if nothing was lost. */
export async function acceptLossIn(dataFolder: string): Promise<AcceptedLoss | null> {
  const file = storeFileIn(dataFolder);
  return await openUnused(dataFolder, () => acceptLoss(file, nodeDigest, nodeClock.now()));
}

/** Copies the store to a new file. Nothing in the folder changes. */
export async function copyFolderStore(
  dataFolder: string,
  target: string,
  signal: AbortSignal,
): Promise<DatabaseCopy> {
  return await openUnused(dataFolder, () =>
    copyUnusedStore(storeFileIn(dataFolder), target, { digest: nodeDigest, signal }),
  );
}

/** Runs `work` with a read-only store; nothing in the folder changes. */
export async function withReadOnlyStore<T>(
  dataFolder: string,
  work: (store: ReadOnlyStore) => Promise<T>,
): Promise<T> {
  const store = await openUnused(dataFolder, () =>
    Promise.resolve(readOnlyStore(storeFileIn(dataFolder), nodeDigest)),
  );
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

export async function keysIn(store: Pick<ReadOnlyStore, 'documents'>): Promise<ApiKey[]> {
  return (await store.documents('key')).map(({ body }) => JSON.parse(body) as ApiKey);
}

/** Returns the operator: write access to the data folder gives the rights of the operator. */
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
