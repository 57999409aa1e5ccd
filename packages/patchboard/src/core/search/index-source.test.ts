import { expect, it } from 'vitest';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { anEntry, digest } from '../../store/samples.contract.ts';
import { LedgerSource } from './index-source.ts';

it('reads a bounded number of rows at once, also if they add nothing, and all of them in the end', async () => {
  const store = memoryStore({ digest });
  const source = new LedgerSource(store);
  const count = 20_000;
  // The calls of these rows were removed.
  const row = anEntry({ kind: 'call.state', callId: 'tc_removed', body: '{"state":"COMPLETED"}' });
  await store.append(Array.from({ length: count }, () => row));
  let after = 0;
  for (let batch = await source.read(0); batch !== null; batch = await source.read(after)) {
    expect(batch.from).toBe(after);
    expect(batch.to.seq - after).toBeLessThanOrEqual(5000);
    expect(batch.to.hash).toBe(await source.hashAt(batch.to.seq));
    after = batch.to.seq;
  }
  expect(after).toBe(count);
});
