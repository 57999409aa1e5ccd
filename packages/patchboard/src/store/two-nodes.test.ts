import { twoNodes } from '../../test/support/two-nodes.ts';
import { memoryStore } from './memory/memory-store.ts';
import { digest } from './samples.contract.ts';
import { describeTwoNodes } from './two-nodes.contract.ts';

describeTwoNodes('the memory store of tests', async () => {
  const { a, b } = twoNodes(memoryStore({ digest }));
  return { a: a.store, b: b.store, cleanup: async () => {} };
});
