import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageFull } from '../../core/failures.ts';
import type { CommittedRow, Store } from '../../core/ports.ts';
import { verifiedLedger } from '../ledger.contract.ts';
import {
  aCall,
  aRecord,
  anEntry,
  callId,
  completed,
  digest,
  executing,
  insertAll,
  rowsOf,
} from '../samples.contract.ts';
import { sqliteStore } from './sqlite-store.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-commit-'));
  file = join(folder, 'store.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Counts the turns of the event loop until the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const settled = work.then(
    () => (isDone = true),
    () => (isDone = true),
  );
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  await settled;
  await work;
  return turns;
}

describe('a full disk', () => {
  const MAX_BYTES = 1_000_000;
  const big = JSON.stringify('x'.repeat(4_000));
  let store: Store;
  let next = 1;

  beforeEach(async () => {
    next = 1;
    store = await sqliteStore({ file, digest, maxBytes: MAX_BYTES });
  });
  afterEach(async () => {
    await store.close();
  });

  /** Writes batches of ten until the disk is full. Returns the batch that failed. */
  async function fillUp(): Promise<PromiseSettledResult<unknown>[]> {
    for (;;) {
      const calls = Array.from({ length: 10 }, (_, index) =>
        completed(aCall(next + index, { argsJson: big })),
      );
      const settled = await Promise.allSettled(
        calls.map(async (call) => await store.insertCall(aRecord(call))),
      );
      if (settled.some(({ status }) => status === 'rejected')) return settled;
      next += 10;
    }
  }

  it('leaves the counts of ended calls as they were, also if another write of the batch is refused', async () => {
    await insertAll(store, [completed(aCall(1))]);
    const calls = Array.from({ length: 300 }, (_, index) => completed(aCall(index + 2, { argsJson: big })));
    // The first one is stored already.
    const settled = await Promise.allSettled(
      [completed(aCall(1)), ...calls].map(async (call) => await store.insertCall(aRecord(call))),
    );
    expect(settled.map(({ status }) => status)).not.toContain('fulfilled');
    expect(await store.countByState()).toEqual({ COMPLETED: 1 });
  });

  it('rejects the whole batch with StorageFull and keeps nothing of it, in the file or in memory', async () => {
    const received: CommittedRow[] = [];
    store.watch((committed) => received.push(committed));
    const settled = await fillUp();
    for (const result of settled) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StorageFull) });
    }
    expect(await store.findCall(callId(next))).toBeUndefined();
    expect(await store.countByState()).toEqual({ COMPLETED: next - 1 });
    expect(await store.countEnded('acme')).toEqual({ COMPLETED: next - 1 });
    expect(await verifiedLedger(store)).toHaveLength((next - 1) * 3);
    expect(received).toHaveLength((next - 1) * 3);
    expect(statSync(file).size).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('still reads, and writes again once there is space, without a restart', async () => {
    await fillUp();
    expect((await store.listCalls({ tenant: 'acme' }, null, 10)).items).toHaveLength(10);
    // In the same turn as a write that fails: the purge must not fail with it.
    const tooBig = store.insertCall(aRecord(aCall(next, { argsJson: big.repeat(500) })));
    const purged = store.purgeCalls(Number.MAX_SAFE_INTEGER, 50);
    await expect(tooBig).rejects.toThrow(StorageFull);
    expect(await purged).toBe(50);
    await insertAll(store, [aCall(next, { argsJson: big })]);
    await store.close();
    store = await sqliteStore({ file, digest });
    expect(await store.findCall(callId(next))).toBeDefined();
    await verifiedLedger(store);
  });
});

describe('group commit', () => {
  it('splits many writes into transactions, and yields to the event loop between them', async () => {
    const store = await sqliteStore({ file, digest });
    const flood = Array.from({ length: 3_000 }, (_, index) => store.append([anEntry({ body: `${index}` })]));
    expect(await turnsDuring(Promise.all(flood))).toBeGreaterThanOrEqual(5);
    const bodies = (await verifiedLedger(store)).map(({ body }) => body);
    expect(bodies).toEqual(flood.map((_, index) => `${index}`));
    await store.close();
  });

  it('splits by size too', async () => {
    const store = await sqliteStore({ file, digest });
    const big = JSON.stringify('x'.repeat(1_000_000));
    const calls = Array.from({ length: 10 }, (_, index) => aCall(index + 1, { argsJson: big }));
    expect(await turnsDuring(insertAll(store, calls))).toBeGreaterThanOrEqual(3);
    await store.close();
  });

  it('undoes only the failing write of a batch: its run, its row and its count', async () => {
    const store = await sqliteStore({ file, digest });
    const done = completed(aCall(1));
    const faulty = { ...executing(aCall(2)), timeline: [] };
    await insertAll(store, [aCall(1), aCall(2)]);
    const settled = await Promise.allSettled([
      store.replaceCall(done, 1, rowsOf(done, 1), false),
      store.insertCall(aRecord(completed(aCall(2, { runId: 'run_9' })))),
      store.append([anEntry({ at: 1.5 })]),
      store.replaceCall({ ...done, id: callId(2) }, 1, [anEntry(), anEntry({ at: Number.NaN })], false),
      store.replaceCall({ ...faulty, state: done.state }, 1, [], false),
      store.append([anEntry()]),
    ]);
    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(await store.findCall(callId(2))).toEqual(aCall(2));
    expect(await store.findRun('acme', 'run_9')).toBeUndefined();
    expect(await store.countByState()).toEqual({ PENDING: 1, COMPLETED: 1 });
    expect(await verifiedLedger(store)).toHaveLength(5);
    await store.close();
  });

  it('writes the queue before it closes, and refuses later writes', async () => {
    const store = await sqliteStore({ file, digest });
    const queued = store.append([anEntry()]);
    await Promise.all([store.close(), store.close()]);
    await queued;
    await expect(store.append([anEntry()])).rejects.toThrow('closed');
    const again = await sqliteStore({ file, digest });
    expect((await again.ledgerHead()).seq).toBe(1);
    await again.close();
  });
});

describe('redacted arguments', () => {
  it('leave no trace in the file', async () => {
    const store = await sqliteStore({ file, digest });
    await insertAll(store, [aCall(1, { argsJson: '{"token":"hunter2hunter2"}' }), aCall(2)]);
    const done = { ...completed(aCall(1)), argsJson: '{"token":"•"}', argsRedacted: true };
    await store.replaceCall(done, 1, rowsOf(done, 1), true);
    await store.close();
    expect(readFileSync(file).includes('hunter2hunter2')).toBe(false);
  });
});

describe('scans over more rows than one window', () => {
  it('find rare matches far back, and yield to the event loop', async () => {
    const store = await sqliteStore({ file, digest });
    const calls = Array.from({ length: 9_000 }, (_, index) => {
      const call = aCall(index + 1, { toolName: index % 4_400 === 5 ? 'rare' : 'common' });
      return index % 2 === 0 ? completed(call) : call;
    });
    await insertAll(store, calls);
    await store.append([anEntry({ kind: 'run.created' })]);

    const rare = store.listCalls({ tenant: 'acme', toolName: 'rare' }, null, 10);
    expect(await turnsDuring(rare)).toBeGreaterThanOrEqual(2);
    expect((await rare).items.map(({ id }) => id)).toEqual([8_806, 4_406, 6].map(callId));
    const pending = await store.listCalls(
      { tenant: 'acme', toolName: 'rare', states: ['PENDING'] },
      null,
      10,
    );
    expect(pending.items.map(({ id }) => id)).toEqual([8_806, 4_406, 6].map(callId));
    const none = store.listCalls({ tenant: 'nobody', runId: 'run_1' }, null, 10);
    expect((await none).items).toEqual([]);
    const inRun = await store.listCalls({ tenant: 'acme', runId: 'run_1', toolName: 'rare' }, null, 2);
    expect(inRun.items).toHaveLength(2);
    expect(inRun.nextCursor).not.toBeNull();

    const rows = await store.readLedger({ kinds: ['run.created'] }, 0, 10);
    expect(rows.map(({ row }) => row.seq)).toEqual([(await store.ledgerHead()).seq]);
    let open = 0;
    for await (const call of store.openCalls()) open += call.state.name === 'PENDING' ? 1 : 0;
    expect(open).toBe(4_500);
    expect(await store.purgeCalls(Number.MAX_SAFE_INTEGER, 10_000)).toBe(4_500);
    expect(await store.countByState()).toEqual({ PENDING: 4_500 });
    await store.close();
  });
});
