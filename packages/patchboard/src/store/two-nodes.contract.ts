import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../core/ports.ts';
import { verifyLedger } from '../core/ledger/ledger-check.ts';
import { describeSharedChanges } from './shared-changes.contract.ts';
import {
  START,
  aCall,
  aRecord,
  aTool,
  anEntry,
  callId,
  completed,
  digest,
  executing,
  failed,
  insertAll,
  rowsOf,
} from './samples.contract.ts';

export interface TwoStores {
  readonly a: Store;
  readonly b: Store;
  readonly cleanup: () => Promise<void>;
}

/** The contract of a store that several nodes share: `a` and `b` are the stores of two nodes over the same data. */
export function describeTwoNodes(name: string, open: () => Promise<TwoStores>): void {
  describe(`${name}, two nodes over one store`, () => {
    let a: Store;
    let b: Store;
    let cleanup: () => Promise<void>;

    beforeEach(async () => {
      ({ a, b, cleanup } = await open());
    });
    afterEach(async () => {
      await cleanup();
    });

    describeMoves();
    describeOtherRaces();
    describeSharedChanges(() => ({ a, b }));

    function describeMoves(): void {
      it('let one of two nodes claim a call as it is, without a ledger row', async () => {
        const call = aCall(1);
        await insertAll(a, [call]);
        const before = (await a.ledgerHead()).seq;
        const claimed = { ...call, version: 2 };
        const claims = await Promise.all([a.replaceCall(claimed, 1, []), b.replaceCall(claimed, 1, [])]);
        expect(claims.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'replaced']);
        const [winner, loser] = claims[0].kind === 'replaced' ? [a, b] : [b, a];
        expect(await loser.findCall(call.id)).toEqual(claimed);
        const done = { ...completed(call), version: 3 };
        expect(await winner.replaceCall(done, 2, rowsOf(done, 1))).toEqual({ kind: 'replaced' });
        expect((await loser.ledgerHead()).seq).toBe(before + rowsOf(done, 1).length);
      });

      it('let one of two racing moves win, and tell the other node that the call is elsewhere', async () => {
        for (let n = 1; n <= 20; n += 1) {
          const call = aCall(n);
          await insertAll(n % 2 === 0 ? a : b, [call]);
          const [ofA, ofB] = [completed(call), failed(call)];
          const [first, second] = await Promise.all([
            a.replaceCall(ofA, 1, rowsOf(ofA, 1)),
            b.replaceCall(ofB, 1, rowsOf(ofB, 1)),
          ]);
          const [winner, loser] = first.kind === 'replaced' ? [ofA, second] : [ofB, first];
          expect([first.kind, second.kind].toSorted()).toEqual(['conflict', 'replaced']);
          expect(loser).toEqual({ kind: 'conflict', current: winner, elsewhere: true });
          expect(await a.findCall(call.id)).toEqual(winner);
          expect(await b.findCall(call.id)).toEqual(winner);
        }
        expect((await a.ledgerHead()).seq).toBe(20 * 3);
        expect(await verifyLedger(b, digest)).toMatchObject({ ok: true, rows: 60 });
      });

      it('do not mark a conflict with a move of the same node', async () => {
        const call = aCall(1);
        await insertAll(a, [call]);
        const begun = executing(call);
        expect(await b.replaceCall(begun, 1, rowsOf(begun, 1))).toEqual({ kind: 'replaced' });
        const late = failed(call);
        expect(await b.replaceCall(late, 1, rowsOf(late, 1))).toEqual({ kind: 'conflict', current: begun });
        expect(await a.replaceCall(late, 1, rowsOf(late, 1))).toMatchObject({ elsewhere: true });
      });

      it('leave a call with the node that holds it if the move keeps the holder', async () => {
        const call = aCall(1);
        await insertAll(a, [call]);
        const begun = executing(call);
        expect(await b.replaceCall(begun, 1, rowsOf(begun, 1), false, true)).toEqual({ kind: 'replaced' });
        const late = failed(call);
        expect(await a.replaceCall(late, 1, rowsOf(late, 1))).toEqual({ kind: 'conflict', current: begun });
        expect(await b.replaceCall(late, 1, rowsOf(late, 1))).toMatchObject({ elsewhere: true });
      });
    }

    function describeOtherRaces(): void {
      it('record one call for the same idempotency key', async () => {
        for (let n = 1; n <= 10; n += 1) {
          const key = { scope: `k${n}`, bodyHash: 'b', expiresAt: START + 60_000 };
          const results = await Promise.all(
            [a, b].map(async (store, index) => await store.insertCall(aRecord(aCall(2 * n + index), key))),
          );
          expect(results.map(({ kind }) => kind).toSorted()).toEqual(['duplicate', 'inserted']);
          const winner = results.findIndex(({ kind }) => kind === 'inserted');
          expect(results[1 - winner]).toMatchObject({ callId: callId(2 * n + winner), bodyHash: 'b' });
        }
        expect(await a.countByState()).toEqual({ PENDING: 10 });
      });

      it('refuse a call of a run that the other node cancelled, or record it before the cancel', async () => {
        for (let n = 1; n <= 10; n += 1) {
          const runId = `run_${n}`;
          await insertAll(a, [aCall(2 * n, { runId })]);
          const joining = aCall(2 * n + 1, { runId });
          const [isCancelled, joined] = await Promise.all([
            a.cancelRun('acme', runId, START + 5, anEntry({ kind: 'run.cancelled', body: `{"n":${n}}` })),
            b.insertCall(aRecord(joining)),
          ]);
          expect(isCancelled).toBe(true);
          const rows = (await b.readLedger({}, 0, 1000)).map(({ row }) => row);
          const cancel = rows.find(({ body }) => body === `{"n":${n}}`);
          const join = rows.find((row) => row.callId === joining.id);
          if (joined.kind === 'inserted') expect(join!.seq).toBeLessThan(cancel!.seq);
          else expect([joined.kind, join]).toEqual(['run_refused', undefined]);
          expect((await b.insertCall(aRecord(aCall(1000 + n, { runId })))).kind).toBe('run_refused');
        }
      });

      it('add a document once, and give a tool name to one client', async () => {
        const added = await Promise.all(
          [a, b].map((store) => store.addDocument('policy', 'acme 1', '{}', [anEntry()])),
        );
        expect(added.filter(Boolean)).toHaveLength(1);
        const held = await Promise.all(
          [a, b].map((store, index) =>
            store.saveTools([aTool('camera.take', { clientId: `phone-${index}` })], anEntry()),
          ),
        );
        expect(held.flat()).toEqual(['camera.take']);
        expect(await a.tools()).toEqual([
          aTool('camera.take', { clientId: `phone-${held.findIndex((names) => names.length === 0)}` }),
        ]);
      });
    }
  });
}
