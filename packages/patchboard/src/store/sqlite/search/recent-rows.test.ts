import { expect, it } from 'vitest';
import { LedgerSource } from '../../../core/search/index-source.ts';
import { memoryStore } from '../../memory/memory-store.ts';
import { digest, insertAll } from '../../samples.contract.ts';
import { endedCalls } from '../../search-samples.contract.ts';
import { RecentRows } from './recent-rows.ts';

it('are read from the ledger again if the index begins anew', async () => {
  const store = memoryStore({ digest });
  const recent = new RecentRows(new LedgerSource(store));
  store.watch((committed) => recent.committed([committed]));
  /** What an index gets that is empty, batch by batch. */
  const all = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = 0; ;) {
      const batch = await recent.read(after);
      if (batch === null) return ids;
      ids.push(...batch.calls.map(({ id }) => id));
      after = batch.to.seq;
    }
  };
  // Rows are kept from the first read on.
  expect(await all()).toEqual([]);
  const calls = endedCalls(1000);
  const ids = calls.map(({ id }) => id);
  await insertAll(store, calls);
  expect(await all()).toEqual(ids);
  expect(await all()).toEqual(ids);
});

it('are nearly too many before some are dropped', async () => {
  const store = memoryStore({ digest });
  const recent = new RecentRows(new LedgerSource(store));
  store.watch((committed) => recent.committed([committed]));
  await recent.read(0);
  await insertAll(store, endedCalls(9000));
  expect(recent.isNearlyFull()).toBe(false);
  await insertAll(store, endedCalls(11_000).slice(9000));
  expect(recent.isNearlyFull()).toBe(true);
  const first = await recent.read(0);
  expect([first?.calls.length, first?.hasMore]).toEqual([2000, true]);
  await recent.read(first!.to.seq);
  expect(recent.isNearlyFull()).toBe(false);
});
