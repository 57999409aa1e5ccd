import { nodeDigest } from '../../../src/runtime/digest.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import type { StoreKind } from './store-kind.ts';

/** The memory store, which survives the simulated processes. */
export const memory: StoreKind = {
  name: 'memory',
  isShared: true,
  isSynchronous: true,
  open: async () => {
    const store = memoryStore({ digest: nodeDigest });
    return { store, reopen: async () => {}, close: () => store.close() };
  },
};
