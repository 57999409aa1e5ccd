import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { describeEngineRestarts } from './engine-restart.contract.ts';

describeEngineRestarts('a store in memory', () => Promise.resolve(memoryStore({ digest: nodeDigest })));
