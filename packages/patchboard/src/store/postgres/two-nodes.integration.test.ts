import { expect, it } from 'vitest';
import { waitFor } from '../../../test/support/wait-for.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import { aCall, anEntry, completed, digest, insertAll, rowsOf } from '../samples.contract.ts';
import { describeTwoNodes } from '../two-nodes.contract.ts';
import { postgresStore } from './open.ts';
import { REPORT, sharedStores } from './shared-stores.contract.ts';

describeTwoNodes('the PostgreSQL store', async () => {
  const { open } = await sharedStores(18);
  const [a, b] = await Promise.all([open(), open()]);
  return {
    a: a.store,
    b: b.store,
    cleanup: async () => {
      await Promise.all([a.store.close(), b.store.close()]);
    },
  };
});

it('gives the rows of all nodes one order, and each node reads what any node has committed', async () => {
  const { open } = await sharedStores(15);
  const nodes = [(await open()).store, (await open()).store, (await open()).store];
  await Promise.all(
    nodes.map(async (node, index) => {
      for (let n = 0; n < 20; n += 1) {
        const call = aCall(n * nodes.length + index);
        await insertAll(node, [call]);
        const done = completed(call);
        await node.replaceCall(done, 1, rowsOf(done, 1));
        const other = nodes[(index + 1) % nodes.length];
        expect(await other?.findCall(call.id)).toEqual(done);
        const rows = (await other?.readLedger({ callId: call.id }, 0, 10)) ?? [];
        expect(rows.map(({ row }) => row.kind)).toHaveLength(3);
      }
    }),
  );
  const [first] = nodes;
  if (first === undefined) throw new Error('there is no node');
  expect((await first.ledgerHead()).seq).toBe(180);
  expect(await verifyLedger(first, digest)).toMatchObject({ ok: true, rows: 180 });
});

it('says of each call which node holds it, or ended it', async () => {
  const { open } = await sharedStores(15);
  const [a, b] = [await open(), await open()];
  const [writerOfA, writerOfB] = [a.table.self.writer, b.table.self.writer];
  const call = aCall(1);
  await insertAll(a.store, [call]);
  expect(a.store.nodeOf(call)).toBe(writerOfA);
  const read = await b.store.findCall(call.id);
  if (read === undefined) throw new Error('the call is not stored');
  expect(b.store.nodeOf(read)).toBe(writerOfA);

  // Which node keeps it, the one that makes the move has not read.
  const kept = { ...read, version: 2 };
  await b.store.replaceCall(kept, 1, [], false, true);
  expect(b.store.nodeOf(kept)).toBeNull();
  const stillOfA = await b.store.findCall(call.id);
  expect(stillOfA === undefined ? null : b.store.nodeOf(stillOfA)).toBe(writerOfA);

  const ended = { ...completed(call), version: 3 };
  await b.store.replaceCall(ended, 2, rowsOf(ended, 1));
  expect(b.store.nodeOf(ended)).toBe(writerOfB);
  const { items } = await a.store.listCalls({ tenant: call.tenant }, null, 10);
  expect(items.map((item) => a.store.nodeOf(item))).toEqual([writerOfB]);
});

it('tells a watcher the rows of other nodes, and none that were committed long before it began', async () => {
  const { open } = await sharedStores(18);
  const [own, other] = [await open(), await open()];
  await own.store.append([anEntry({ at: 1 })]);
  await other.store.append([anEntry({ at: 2 })]);
  // This node knows of the rows of the other one.
  expect((await own.store.ledgerHead()).seq).toBe(2);
  const seen: number[] = [];
  own.store.watch(({ row }) => seen.push(row.at));
  await other.store.append([anEntry({ at: 3 })]);
  own.store.shared?.grown();
  await own.store.append([anEntry({ at: 4 })]);
  await waitFor(() => expect(seen).toEqual([3, 4]));
});

it('refuses a server that does not share the store while another node lives, and the other way round', async () => {
  const { open, options } = await sharedStores(15);
  const { store, table } = await open();
  const { nodes: _, ...single } = options;
  const beating = setInterval(() => void table.beat(REPORT), 200);
  try {
    await expect(postgresStore(single)).rejects.toMatchObject({ name: 'StoreInUse' });
  } finally {
    clearInterval(beating);
  }
  await store.close();
  const alone = await postgresStore(single);
  try {
    await expect(postgresStore(options)).rejects.toMatchObject({ name: 'StoreInUse' });
  } finally {
    await alone.close();
  }
});
