import { describe, expect, it } from 'vitest';
import { chainHash, GENESIS } from '../core/ledger/ledger.ts';
import { verifyLedger } from '../core/ledger/ledger-check.ts';
import type { Store } from '../core/ports.ts';
import {
  aCall,
  aRecord,
  aRun,
  anEntry,
  callId,
  completed,
  digest,
  idsOf,
  rowsOf,
} from './samples.contract.ts';

/** The contract of stores with a limit for ended calls. `open` returns a store with the given limit. */
export function retentionContract(name: string, open: (retain: number) => Promise<Store>): void {
  describe(`${name} that retains 3 calls`, () => {
    const kept = async (store: Store): Promise<string[]> =>
      idsOf((await store.listCalls({ tenant: 'acme' }, null, 1000)).items);

    async function end(store: Store, n: number, given: Parameters<typeof aCall>[1] = {}): Promise<void> {
      await store.insertCall(aRecord(aCall(n, given)));
      const done = completed(aCall(n, given));
      expect(await store.replaceCall(done, 1, rowsOf(done, 1), false)).toEqual({ kind: 'replaced' });
    }

    it('keeps the calls that ended last, and every open call', async () => {
      const store = await open(3);
      await store.insertCall(aRecord(aCall(1)));
      for (const n of [2, 3, 4, 5]) await end(store, n);
      // This call was created first and ends last.
      const done = completed(aCall(1));
      await store.replaceCall(done, 1, rowsOf(done, 1), false);
      await store.insertCall(aRecord(aCall(6)));
      await store.insertCall(aRecord(completed(aCall(7))));
      expect(await kept(store)).toEqual([7, 6, 5, 1].map(callId));
      expect(await store.findCall(callId(4))).toBeUndefined();
      expect(await store.countByState()).toEqual({ PENDING: 1, COMPLETED: 3 });
    });

    it('keeps to the limit after calls were purged by age', async () => {
      const store = await open(3);
      for (const n of [1, 2, 3]) await end(store, n);
      expect(await store.purgeCalls(9e12, 2)).toBe(2);
      for (const n of [4, 5]) await end(store, n);
      expect(await kept(store)).toEqual([5, 4, 3].map(callId));
      await end(store, 6);
      expect(await kept(store)).toEqual([6, 5, 4].map(callId));
    });

    it('drops an idempotency key with its call, and a reused key with the later call', async () => {
      const store = await open(3);
      const key = { scope: 's', bodyHash: 'b', expiresAt: 9e12 };
      await store.insertCall(aRecord(completed(aCall(1)), key));
      for (const n of [2, 3]) await end(store, n);
      expect((await store.insertCall(aRecord(aCall(9), key))).kind).toBe('duplicate');
      await end(store, 4);
      expect((await store.insertCall(aRecord(completed(aCall(10)), key))).kind).toBe('inserted');
      expect(await store.insertCall(aRecord(aCall(11), key))).toMatchObject({
        kind: 'duplicate',
        callId: callId(10),
      });
    });

    it('drops a run with its last call, and keeps the newest runs without calls', async () => {
      const store = await open(3);
      await end(store, 1, { runId: 'run_old' });
      await end(store, 2, { runId: 'run_mixed' });
      await store.insertCall(aRecord(aCall(3, { runId: 'run_mixed' })));
      for (const n of [4, 5, 6]) await end(store, n);
      expect(await store.findRun('acme', 'run_old')).toBeUndefined();
      expect(await store.findRun('acme', 'run_mixed')).toBeDefined();
      for (let n = 1; n <= 5; n += 1) await store.ensureRun(aRun({ id: `run_empty_${n}` }), anEntry());
      const first = await store.listRuns({ tenant: 'acme' }, null, 2);
      expect(idsOfRuns(first.items)).toEqual(['run_empty_5', 'run_empty_4']);
      await store.ensureRun(aRun({ id: 'run_empty_6' }), anEntry());
      const rest = await store.listRuns({ tenant: 'acme' }, first.nextCursor, 10);
      expect(idsOfRuns(rest.items)).toEqual(['run_1', 'run_mixed']);
    });

    it('keeps a run that was created without calls while it has calls', async () => {
      const store = await open(3);
      await store.ensureRun(aRun({ id: 'run_made' }), anEntry());
      await end(store, 1, { runId: 'run_made' });
      for (let n = 1; n <= 5; n += 1) await store.ensureRun(aRun({ id: `run_empty_${n}` }), anEntry());
      expect(await store.findRun('acme', 'run_made')).toBeDefined();
      for (const n of [2, 3, 4]) await end(store, n);
      expect(await store.findRun('acme', 'run_made')).toBeUndefined();
    });

    it('keeps a bounded number of the newest ledger rows, and their chain verifies', async () => {
      const store = await open(3);
      for (let n = 1; n <= 2000; n += 1) await end(store, n);
      const rows = await store.readLedger({}, 0, 10_000);
      expect(rows.length).toBeGreaterThan(999);
      expect(rows.length).toBeLessThan(1500);
      const head = await store.ledgerHead();
      expect(head.seq).toBe(6000);
      expect(rows.at(-1)?.row.seq).toBe(6000);
      expect(head.start?.seq).toBe(6000 - rows.length);
      expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: rows.length, head });
    });

    it('verifies from a checkpoint while its row is kept, or is the last one that was dropped', async () => {
      const store = await open(3);
      await store.append([anEntry()]);
      const whole = await verifyLedger(store, digest);
      if (!whole.ok) throw new Error(whole.problem);
      await store.append([anEntry(), anEntry()]);
      expect(await verifyLedger(store, digest, whole.checkpoint)).toMatchObject({ ok: true, rows: 2 });
      for (let n = 0; n < 60; n += 1) await store.append(Array.from({ length: 100 }, () => anEntry()));
      expect(await verifyLedger(store, digest, whole.checkpoint)).toMatchObject({
        ok: false,
        seq: 1,
        problem: expect.stringContaining('the row is no longer kept') as string,
      });
      const { seq, start } = await store.ledgerHead();
      const atStart = { seq: start?.seq ?? 0, hash: start?.hash ?? '', writers: null };
      expect(await verifyLedger(store, digest, atStart)).toMatchObject({ ok: true, rows: seq - atStart.seq });
    });

    it('continues a chain that was read, also after rows were dropped', async () => {
      const store = await open(3);
      await store.append([anEntry({ body: '{"n":0}' })]);
      const [seen] = await store.readLedger({}, 0, 10);
      const drafts = Array.from({ length: 4999 }, (_, n) => anEntry({ body: `{"n":${n + 1}}` }));
      for (let at = 0; at < drafts.length; at += 100) await store.append(drafts.slice(at, at + 100));
      let hash = chainHash(digest, GENESIS, 1, anEntry({ body: '{"n":0}' }));
      for (const [index, draft] of drafts.entries()) hash = chainHash(digest, hash, index + 2, draft);
      expect((await store.ledgerHead()).hash).toBe(hash);
      expect(seen?.row.seq).toBe(1);
    });

    it('calls a watcher for every row, also for more rows at once than it keeps', async () => {
      const store = await open(3);
      const received: number[] = [];
      store.watch(({ row }) => received.push(row.seq));
      await store.append(Array.from({ length: 3000 }, () => anEntry()));
      expect(received).toEqual(Array.from({ length: 3000 }, (_, index) => index + 1));
    });

    it('keeps the most recently written journals, and accepts entries for a dropped one', async () => {
      const store = await open(3);
      const entry = { kind: 'message', body: '{}' };
      for (const id of ['run_a', 'run_b', 'run_c']) await store.appendJournal(id, 0, [entry, entry]);
      await store.appendJournal('run_a', 2, [entry]);
      await store.appendJournal('run_d', 0, [entry]);
      expect(await store.readJournal('run_b', 0, 10)).toEqual([]);
      expect(await store.readJournal('run_a', 0, 10)).toHaveLength(3);
      expect(await store.appendJournal('run_b', 2, [entry])).toBe(true);
      expect(await store.appendJournal('run_b', 2, [entry])).toBe(false);
      expect(await store.readJournal('run_b', 0, 10)).toEqual([{ no: 3, ...entry }]);
      expect(await store.readJournal('run_b', 3, 10)).toEqual([]);
    });
  });
}

function idsOfRuns(runs: readonly { readonly id: string }[]): string[] {
  return runs.map(({ id }) => id);
}
