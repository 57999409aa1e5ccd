import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { describeEngineProperty } from './engine-property.contract.ts';

describeEngineProperty('a store in memory', {
  open: () => Promise.resolve(memoryStore({ digest: nodeDigest })),
  runs: 80,
  isRemote: false,
});
