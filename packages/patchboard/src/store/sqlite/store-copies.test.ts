import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import type { Store, StoreCopy } from '../../core/ports.ts';
import { verifiedLedger } from '../ledger.contract.ts';
import { aCall, anEntry, aRecord, callId, digest } from '../samples.contract.ts';
import { sqliteStore } from './sqlite-store.ts';
import { checkCopy, copyUnusedStore } from './unused-store.ts';

/** Enough pages for many steps of a copy. */
const LARGE = 'x'.repeat(200_000);
const JOURNAL_ROWS = 40;

let folder: string;
let file: string;
let store: Store;
const never = new AbortController().signal;

beforeEach(async () => {
  folder = await aFolder();
  file = join(folder, 'patchboard.db');
  store = await sqliteStore({ file, digest });
  for (let no = 0; no < JOURNAL_ROWS; no += 1)
    await store.appendJournal('j', no, [{ kind: 'k', body: LARGE }]);
  return async () => await store.close();
});

async function copyOf(from: Store, signal: AbortSignal = never): Promise<StoreCopy> {
  const copy = await from.copy?.(signal);
  if (copy === null || copy === undefined) throw new Error('there is no copy');
  return copy;
}

/** The copy as the store of a new data folder. */
async function restored(copy: StoreCopy): Promise<Store> {
  const target = join(await aFolder(), 'patchboard.db');
  await writeFile(target, await buffer(copy.read()));
  expect(checkCopy(target, digest)).toEqual(copy.head);
  return await sqliteStore({ file: target, digest });
}

describe('a copy of a store that is written meanwhile', () => {
  it('has every call stored before it began, and its chain verifies up to the head that it names', async () => {
    for (let n = 0; n < 50; n += 1) await store.insertCall(aRecord(aCall(n)));
    let isCopying = true;
    let during = 50;
    const writing = (async () => {
      while (isCopying) await store.insertCall(aRecord(aCall(during++)));
    })();
    const copy = await copyOf(store);
    isCopying = false;
    await writing;
    expect(statSync(`${file}-copy`).mode & 0o777).toBe(0o600);
    expect(statSync(`${file}-copy`).size).toBe(copy.bytes);
    const other = await restored(copy);
    expect(await other.ledgerHead()).toMatchObject(copy.head);
    expect(await verifiedLedger(other)).toHaveLength(copy.head.seq);
    for (let n = 0; n < 50; n += 1) expect((await other.findCall(callId(n)))?.argsJson).toBe(`{"n":${n}}`);
    // Whatever the copy has of the calls meanwhile, it has with their rows.
    const calls = (await other.listCalls({ tenant: 'acme' }, null, 200)).items;
    const rows = await other.readLedger({ kinds: ['call.state'] }, 0, 1000);
    expect(new Set(rows.map(({ row }) => row.callId))).toEqual(new Set(calls.map(({ id }) => id)));
    await other.close();
    await copy.remove();
    expect(readdirSync(folder).filter((name) => name.includes('copy'))).toEqual([]);
  });

  it('is the only one until it is removed', async () => {
    const copy = await copyOf(store);
    expect(await store.copy?.(never)).toBeNull();
    await copy.remove();
    await (await copyOf(store)).remove();
  });
});

describe('an unfinished copy', () => {
  it('is removed when it is aborted, and another can be made', async () => {
    const stop = new AbortController();
    const copying = copyOf(store, stop.signal);
    stop.abort(new Error('gone'));
    await expect(copying).rejects.toThrow('gone');
    expect(existsSync(`${file}-copy`)).toBe(false);
    await (await copyOf(store)).remove();
  });

  it('ends when the store is closed, which keeps what was acknowledged', async () => {
    const copying = copyOf(store);
    const failed = expect(copying).rejects.toThrow('the store is closed');
    // Without waiting in between: the copy could be complete by then.
    await Promise.all([store.insertCall(aRecord(aCall(1))), store.close()]);
    await failed;
    expect(existsSync(`${file}-copy`)).toBe(false);
    const again = await sqliteStore({ file, digest });
    expect(await again.findCall(callId(1))).toBeDefined();
    await again.close();
  });

  it('that a killed process left is removed by the next start', async () => {
    await store.close();
    for (const end of ['copy', 'copy-journal']) writeFileSync(`${file}-${end}`, 'left over');
    store = await sqliteStore({ file, digest });
    expect(readdirSync(folder).filter((name) => name.includes('copy'))).toEqual([]);
  });
});

describe('a copy of a store without a server', () => {
  it('is the same, and does not change the store', async () => {
    await store.append([anEntry()]);
    const head = await store.ledgerHead();
    await store.close();
    const before = readFileSync(file);
    const target = join(await aFolder(), 'copy.db');
    const copy = await copyUnusedStore(file, target, { digest, signal: never });
    expect(copy.head).toEqual({ seq: head.seq, hash: head.hash });
    expect(checkCopy(target, digest)).toEqual(copy.head);
    expect(readFileSync(file)).toEqual(before);
  });

  it('is refused while a server uses it', async () => {
    const target = join(await aFolder(), 'copy.db');
    await expect(copyUnusedStore(file, target, { digest, signal: never })).rejects.toThrow(
      'is in use by another process',
    );
    expect(existsSync(target)).toBe(false);
  });
});
