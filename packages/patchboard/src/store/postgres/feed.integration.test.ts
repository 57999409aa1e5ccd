import { expect, it } from 'vitest';
import { waitFor } from '../../../test/support/wait-for.ts';
import { StorageUnavailable } from '../../core/failures.ts';
import { anEntry } from '../samples.contract.ts';
import { aDatabase } from './a-database.contract.ts';
import { LedgerFeed, type LedgerFeedParts } from './feed.ts';

async function aFeed(fail: () => boolean): Promise<{
  readonly feed: LedgerFeed;
  readonly write: (at: number) => Promise<void>;
  readonly reads: () => number;
  readonly warnings: string[];
}> {
  const database = await aDatabase(18);
  const writer = await database.writer(1);
  const { reader, tables, sequencer, ledger } = database;
  const warnings: string[] = [];
  let resolved = 0;
  let reads = 0;
  const read: LedgerFeedParts['ledger']['read'] = async (...given) => {
    reads += 1;
    if (fail()) throw new StorageUnavailable('the database is gone');
    return await ledger.read(...given);
  };
  const log = { info: () => {}, warn: (event: string) => void warnings.push(event), error: () => {} };
  const feed = new LedgerFeed({
    reader,
    tables,
    sequencer,
    ledger: { read },
    position: () => ({ writer: 1, no: resolved }),
    log,
  });
  const write = async (at: number): Promise<void> => {
    await writer.write({ entries: [anEntry({ at })] });
    resolved = writer.no;
    feed.committed();
  };
  return { feed, write, reads: () => reads, warnings };
}

it('calls the listener with each row once, in order, although reads fail; an outage is logged once', async () => {
  let failures = 0;
  const { feed, write, warnings } = await aFeed(() => (failures += 1) % 3 !== 0);
  const seen: number[] = [];
  feed.watch(({ row }) => seen.push(row.at));
  for (const at of [1, 2, 3]) await write(at);
  await waitFor(() => expect(seen).toEqual([1, 2, 3]));
  await write(4);
  await waitFor(() => expect(seen).toEqual([1, 2, 3, 4]));
  expect(new Set(warnings)).toEqual(new Set(['store.watch_failed']));
  expect(warnings.length).toBeLessThan(failures / 2);
  await feed.close();
});

it('reads nothing without listeners, and again after the last one has left', async () => {
  const { feed, write, reads } = await aFeed(() => false);
  await write(1);
  expect(reads()).toBe(0);
  const seen: number[] = [];
  const end = feed.watch(({ row }) => seen.push(row.at));
  await write(2);
  await waitFor(() => expect(seen).toEqual([2]));
  end();
  await write(3);
  await feed.close();
  const before = reads();
  feed.committed();
  expect(reads()).toBe(before);
  expect(seen).toEqual([2]);
});
