import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../../../../test/support/a-folder.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import type { Store } from '../../../core/ports.ts';
import { nodeClock } from '../../../runtime/node-clock.ts';
import { SILENT_LOG } from '../../../runtime/silent-log.ts';
import { startIndexing } from '../../../wiring/call-indexing.ts';
import { digest, insertAll } from '../../samples.contract.ts';
import { endedCalls } from '../../search-samples.contract.ts';
import { searchContract } from '../../search.contract.ts';
import { sqliteStore } from '../sqlite-store.ts';
import { indexFileOf } from './index-file.ts';

interface IndexedStore {
  readonly store: Store;
  readonly index: () => Promise<void>;
  readonly cleanup: () => Promise<void>;
}

async function openIndexed(file: string): Promise<IndexedStore> {
  const store = await sqliteStore({ file, digest });
  const stop = startIndexing({ store, clock: nodeClock, log: SILENT_LOG }, null);
  return {
    store,
    index: () =>
      waitFor(async () => expect(await store.search?.position()).toBe((await store.ledgerHead()).seq)),
    cleanup: async () => {
      await stop();
      await store.close();
    },
  };
}

async function idsIn({ search }: Store): Promise<string[] | undefined> {
  const found = await search?.find({ tenant: 'acme' }, { by: 'created', isAscending: true }, null, 1000);
  return found?.map(({ id }) => id);
}

searchContract('sqliteStore', async () => await openIndexed(join(await aFolder(), 'store.db')));

describe('the index beside a store', () => {
  const calls = endedCalls(300).map((call) => ({ ...call, tenant: 'acme' }));
  const ids = calls.map(({ id }) => id);

  it('is a private file that continues after a restart, and is made anew after it was deleted', async () => {
    const file = join(await aFolder(), 'store.db');
    const first = await openIndexed(file);
    await insertAll(first.store, calls.slice(0, 200));
    await first.index();
    await first.cleanup();
    expect(statSync(indexFileOf(file)).mode & 0o777).toBe(0o600);

    const second = await openIndexed(file);
    expect(await second.store.search?.position()).toBeGreaterThan(0);
    await insertAll(second.store, calls.slice(200));
    await second.index();
    expect(await idsIn(second.store)).toEqual(ids);
    await second.cleanup();

    rmSync(indexFileOf(file));
    const third = await openIndexed(file);
    await third.index();
    expect(await idsIn(third.store)).toEqual(ids);
    await third.cleanup();
  });

  it('is made anew if the store is another one', async () => {
    const file = join(await aFolder(), 'store.db');
    const other = join(await aFolder(), 'store.db');
    const first = await openIndexed(other);
    await insertAll(first.store, calls);
    await first.index();
    await first.cleanup();
    renameSync(indexFileOf(other), indexFileOf(file));

    const second = await openIndexed(file);
    await insertAll(second.store, calls.slice(0, 10));
    await waitFor(async () => expect(await idsIn(second.store)).toEqual(ids.slice(0, 10)));
    await second.cleanup();
  });

  it('loses the calls that are purged, with the words of their arguments', async () => {
    const file = join(await aFolder(), 'store.db');
    const { store, index, cleanup } = await openIndexed(file);
    const word = 'afba4cc3c8d9b2e17f';
    await insertAll(store, [{ ...calls[0]!, argsJson: `{"note":"${word}"}` }, ...calls.slice(1)]);
    await index();
    const isIn = (name: string): boolean => readFileSync(name).includes(word.slice(4));
    const files = [indexFileOf(file), `${indexFileOf(file)}-wal`];
    expect(files.some(isIn)).toBe(true);
    await store.purgeCalls(Number.MAX_SAFE_INTEGER, 100);
    await waitFor(async () => expect(await idsIn(store)).toEqual(ids.slice(100)));
    expect(files.some(isIn)).toBe(false);
    await cleanup();
  });

  it('is not made by a store that no API uses', async () => {
    const file = join(await aFolder(), 'store.db');
    const store = await sqliteStore({ file, digest });
    await insertAll(store, calls);
    await store.purgeCalls(Number.MAX_SAFE_INTEGER, 100);
    await store.close();
    expect(existsSync(indexFileOf(file))).toBe(false);
  });
});
