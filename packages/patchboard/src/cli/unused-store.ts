import { PatchboardError } from '@patchboard/client';
import { KeyService } from '../core/access/key-service.ts';
import type { Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { StoreInUse } from '../store/store-refused.ts';

/** Opens a store that no server uses. `name`: its folder, or the URL of its database. Converts `StoreInUse` to an error with advice. */
export async function openUnused<T>(name: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof StoreInUse)) throw error;
    throw new PatchboardError('problem', `${name} is in use by a running server`, {
      code: 'data_folder_in_use',
      recommendations: ['pass its address with --url or PATCHBOARD_URL, or stop it first'],
    });
  }
}

/** Runs `work` with the keys of a store that no server uses, and closes the store. */
export async function withKeysOf<T>(
  name: string,
  open: () => Promise<Store>,
  work: (keys: KeyService) => Promise<T>,
): Promise<T> {
  const store = await openUnused(name, open);
  try {
    const ids = timeOrderedIds(nodeClock);
    const keys = new KeyService({ store, ids, clock: nodeClock, digest: nodeDigest, log: SILENT_LOG });
    await keys.load();
    return await work(keys);
  } finally {
    await store.close();
  }
}
