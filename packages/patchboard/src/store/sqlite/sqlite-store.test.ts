import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digest } from '../samples.contract.ts';
import { durableStoreContract } from '../store.contract.ts';
import { sqliteStore } from './sqlite-store.ts';

durableStoreContract('sqliteStore', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-store-'));
  const file = join(folder, 'store.db');
  let store = await sqliteStore({ file, digest });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await sqliteStore({ file, digest });
      return store;
    },
    cleanup: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
});
