import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageFull } from '../../core/failures.ts';
import type { Store } from '../../core/ports.ts';
import { aCall, anEntry, completed, digest, insertAll } from '../samples.contract.ts';
import { EventIndexer } from './event-indexer.ts';
import { BLOCK_ROWS, BlockPostings, EventPostings } from './event-postings.ts';
import { MIGRATIONS } from './migrations.ts';
import { sqliteStore } from './sqlite-store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-events-'));
  file = join(folder, 'store.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Returns the number of indexed blocks of a closed store. */
function indexed(path = file): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const end = database.prepare('select block from event_postings_end').get();
  database.close();
  return Number(end?.['block']);
}

/** A copy of the files of an open store at one moment equals what a kill leaves behind. */
function copyOfFiles(): string {
  const copy = join(folder, 'copy.db');
  copyFileSync(file, copy);
  copyFileSync(`${file}-wal`, `${copy}-wal`);
  return copy;
}

async function seqsOf(store: Store, agentId: string): Promise<number[]> {
  const seqs: number[] = [];
  for (let after = 0; ;) {
    const { rows, reached, isEnd } = await store.readEvents(
      { tenant: 'acme', askedOrRunBy: { agentId, clientId: null } },
      after,
      100,
    );
    seqs.push(...rows.map(({ row }) => row.seq));
    if (isEnd) return seqs;
    after = reached;
  }
}

/** A data folder of an older version, with a ledger without an index. */
async function oldFolder(rows: number): Promise<number> {
  const store = await sqliteStore({ file, digest });
  await insertAll(
    store,
    Array.from({ length: 40 }, (_, n) => completed(aCall(n + 1, { agentId: 'ada' }))),
  );
  for (let written = 120; written < rows; written += 500)
    await store.append(Array.from({ length: 500 }, () => anEntry({ kind: 'call.refused' })));
  await insertAll(store, [completed(aCall(41, { agentId: 'ada', runId: 'run_2' }))]);
  const { seq } = await store.ledgerHead();
  await store.close();
  const database = new DatabaseSync(file);
  database.exec(
    'drop table event_postings; drop table event_postings_end; drop table store_identity; pragma user_version = 4',
  );
  database.close();
  rmSync(`${file}-head`);
  return Math.floor(seq / BLOCK_ROWS);
}

describe('a folder of an older version', () => {
  it('opens before it is indexed, and returns the same events before, during and after', async () => {
    const blocks = await oldFolder(30_000);
    let store = await sqliteStore({ file, digest });
    expect(indexed(copyOfFiles())).toBeLessThan(blocks);
    const expected = (await store.readLedger({ kinds: ['call.state'] }, 0, 1000)).map(({ row }) => row.seq);
    await store.close();
    store = await sqliteStore({ file, digest });
    for (let rounds = 0; rounds < 5; rounds += 1) expect(await seqsOf(store, 'ada')).toEqual(expected);
    // A block in progress when the store is closed is started again.
    for (let turns = 100; ; turns *= 2) {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      await store.close();
      if (indexed() === blocks) break;
      store = await sqliteStore({ file, digest });
    }
    store = await sqliteStore({ file, digest });
    expect(await seqsOf(store, 'ada')).toEqual(expected);
    await store.close();
  });

  it('is indexed from where a killed process stopped', async () => {
    const blocks = await oldFolder(60_000);
    const store = await sqliteStore({ file, digest });
    const expected = (await store.readLedger({ kinds: ['call.state'] }, 0, 1000)).map(({ row }) => row.seq);
    while (statSync(`${file}-wal`).size === 0) await nextTurn();
    const copy = copyOfFiles();
    await store.close();
    const before = indexed(copy);
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(blocks);
    const again = await sqliteStore({ file: copy, digest });
    expect(await seqsOf(again, 'ada')).toEqual(expected);
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    expect(await seqsOf(again, 'ada')).toEqual(expected);
    await again.close();
    expect(indexed(copy)).toBeGreaterThan(before);
  });
});

describe('the indexer', () => {
  function aPostings(): EventPostings {
    const database = new DatabaseSync(':memory:');
    for (const sql of MIGRATIONS) database.exec(sql);
    return new EventPostings(database);
  }
  const rowsOfBlock = (block: number): Parameters<EventIndexer['committed']>[0] =>
    Array.from({ length: BLOCK_ROWS }, (_, place) => ({
      row: { ...anEntry(), seq: block * BLOCK_ROWS + place + 1, hash: '' },
      call: null,
    }));

  it('writes nothing with a row, and all lists of a block in one transaction', async () => {
    const postings = aPostings();
    let writes = 0;
    const indexer = new EventIndexer({
      postings,
      head: 0,
      readBlock: () => expect.unreachable(),
      write: (apply) => {
        writes += 1;
        return Promise.resolve(apply());
      },
    });
    const rows = rowsOfBlock(0);
    for (const row of rows.slice(0, -1)) indexer.committed([row]);
    await nextTurn();
    expect(writes).toBe(0);
    indexer.committed(rows.slice(-1));
    await waitFor(() => expect(postings.blocks).toBe(1));
    expect(writes).toBe(1);
  });

  it('retries with the next block after the disk was full, and omits none', async () => {
    const postings = aPostings();
    let isFull = true;
    const read: number[] = [];
    const indexer = new EventIndexer({
      postings,
      head: 0,
      readBlock: (block) => {
        read.push(block);
        return new BlockPostings(block);
      },
      write: (apply) => (isFull ? Promise.reject(new StorageFull()) : Promise.resolve(apply())),
    });
    indexer.committed(rowsOfBlock(0));
    await nextTurn();
    expect(postings.blocks).toBe(0);
    isFull = false;
    indexer.committed(rowsOfBlock(1));
    await waitFor(() => expect(postings.blocks).toBe(2));
    expect(postings.find('acme', ['*'], 0, 5000).seqs).toHaveLength(2 * BLOCK_ROWS);
    expect(read).toEqual([]);
  });

  it('reads a block again if it was started before the first row it received', async () => {
    const postings = aPostings();
    const read: number[] = [];
    const indexer = new EventIndexer({
      postings,
      head: 10,
      readBlock: (block) => {
        read.push(block);
        return new BlockPostings(block);
      },
      write: (apply) => Promise.resolve(apply()),
    });
    indexer.committed(rowsOfBlock(0).slice(10));
    indexer.committed(rowsOfBlock(1));
    await waitFor(() => expect(postings.blocks).toBe(2));
    expect(read).toEqual([0]);
  });
});
