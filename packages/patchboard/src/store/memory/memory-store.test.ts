import { memoryStore } from './memory-store.ts';
import { retentionContract } from '../retention.contract.ts';
import { digest } from '../samples.contract.ts';
import { searchContract } from '../search.contract.ts';
import { storeContract } from '../store.contract.ts';

storeContract('memoryStore', async () => ({ store: memoryStore({ digest }), cleanup: async () => {} }));
retentionContract('memoryStore', async (retain) => memoryStore({ digest, retain }));
searchContract('memoryStore', async () => ({
  store: memoryStore({ digest }),
  index: async () => {},
  cleanup: async () => {},
}));
