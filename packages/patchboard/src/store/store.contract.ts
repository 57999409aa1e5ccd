import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../core/ports.ts';
import { describeCalls } from './calls.contract.ts';
import { describeEvents } from './events.contract.ts';
import { describeJournals } from './journals.contract.ts';
import { describeLedger } from './ledger.contract.ts';
import { describeLists } from './lists.contract.ts';
import { describeDocuments, describeRunsAndTools } from './runs-and-tools.contract.ts';
import { aCall, aRecord, aTool, anEntry, completed, idsOf, insertAll, rowsOf } from './samples.contract.ts';

export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens it again with the same data; only for durable stores. */
  readonly reopen?: () => Promise<Store>;
  readonly cleanup: () => Promise<void>;
}

/** The store of the test that is running. */
export type Subject = { store: Store; reopen: (() => Promise<Store>) | undefined };

/** The contract tests of the `Store` port, for any adapter. */
export function storeContract(
  name: string,
  open: () => Promise<OpenedStore>,
  describeMore: (subject: Subject) => void = () => {},
): void {
  describe(name, () => {
    const subject = {} as Subject;
    let cleanup: () => Promise<void>;

    beforeEach(async () => {
      const opened = await open();
      subject.store = opened.store;
      subject.reopen = opened.reopen;
      cleanup = opened.cleanup;
    });
    afterEach(async () => {
      await cleanup();
    });

    describeCalls(subject);
    describeLists(subject);
    describeLedger(subject);
    describeEvents(subject);
    describeRunsAndTools(subject);
    describeDocuments(subject);
    describeJournals(subject);
    describeMore(subject);
  });
}

/** `storeContract` plus reopening, for durable stores. */
export function durableStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  storeContract(name, open, describeReopening);
}

function describeReopening(subject: Subject): void {
  it('has all data after it was closed and opened again', async () => {
    const { store, reopen } = subject;
    if (reopen === undefined) throw new Error('the adapter must provide `reopen`');
    const key = { scope: 'acme/agent-1/weather/k1', bodyHash: 'b1', expiresAt: 9e12 };
    const done = completed(aCall(1));
    await store.insertCall(aRecord(aCall(1), key));
    await store.replaceCall(done, 1, rowsOf(done, 1), false);
    await insertAll(store, [aCall(2)]);
    await store.saveTools([aTool('camera.take')], anEntry());
    await store.putDocument('key', 'k1', '{}', [anEntry()]);
    await store.appendJournal('run_1', 0, [{ kind: 'message', body: '{}' }]);
    const before = {
      ledger: await store.readLedger({}, 0, 100),
      head: await store.ledgerHead(),
      counts: await store.countByState(),
      ended: await store.countEnded('acme'),
    };

    const again = await reopen();
    expect(await again.findCall(done.id)).toEqual(done);
    expect(await again.readLedger({}, 0, 100)).toEqual(before.ledger);
    expect(await again.ledgerHead()).toEqual(before.head);
    expect(await again.countByState()).toEqual(before.counts);
    expect(await again.countEnded('acme')).toEqual(before.ended);
    expect(await again.tools()).toEqual([aTool('camera.take')]);
    expect(await again.documents('key')).toEqual([{ id: 'k1', body: '{}' }]);
    expect(await again.readJournal('run_1', 0, 10)).toEqual([{ no: 1, kind: 'message', body: '{}' }]);
    expect(await again.findRun('acme', 'run_1')).toMatchObject({ agentId: 'agent-1' });
    expect(idsOf((await again.listCalls({ tenant: 'acme' }, null, 10)).items)).toEqual([
      aCall(2).id,
      done.id,
    ]);
    expect(await again.insertCall(aRecord(aCall(3), key))).toMatchObject({
      kind: 'duplicate',
      callId: done.id,
    });

    await again.append([anEntry()]);
    expect((await again.ledgerHead()).seq).toBe(before.head.seq + 1);
  });
}
