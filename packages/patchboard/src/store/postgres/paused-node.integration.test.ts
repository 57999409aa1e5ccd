import { expect, it, onTestFinished } from 'vitest';
import { aPostgresStore, aSession, verifiedRows } from '../../../test/postgres/support/a-postgres-store.ts';
import {
  startProxy,
  type Direction,
  type MessageFilter,
  type PostgresProxy,
} from '../../../test/services/proxy.ts';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { aCall, anEntry, completed, digest, insertAll, rowsOf } from '../samples.contract.ts';
import { REPORT, sharedStores, type SharedStores } from './shared-stores.contract.ts';

type Node = Awaited<ReturnType<SharedStores['open']>>;

/** Two nodes, each with a call whose rows have no sequence number. The link of the first one can be stopped. */
async function twoNodes(): Promise<{ proxy: PostgresProxy; paused: Node; other: Node; rows: number }> {
  const service = await sharedPostgres(15);
  const proxy = await startProxy(service);
  onTestFinished(() => proxy.close());
  const { open } = await sharedStores(15);
  const [paused, other] = [await open(proxy.through(service.url)), await open()];
  await other.table.beat(REPORT); // the first one makes a connection; meanwhile the rows would get their numbers
  const calls = [aCall(1), aCall(2)] as const;
  await insertAll(paused.store, [calls[0]]);
  await insertAll(other.store, [calls[1]]);
  return { proxy, paused, other, rows: rowsOf(calls[0]).length + rowsOf(calls[1]).length };
}

/** Lets `work` begin, and stops the node when this message is sent. */
async function pauseAt<T>(
  proxy: PostgresProxy,
  direction: Direction,
  matches: MessageFilter,
  work: () => Promise<T>,
): Promise<Promise<T>[]> {
  const isPaused = proxy.swallowFrom(direction, matches);
  const working = work();
  working.catch(() => {});
  await isPaused;
  proxy.freeze();
  return [working];
}

/** Begins a transaction that the server ends after a second. */
async function aSecond(): Promise<{ isOver: () => Promise<boolean> }> {
  const { url } = await sharedPostgres(15);
  const session = await aSession(url);
  await session.query(`set idle_in_transaction_session_timeout = '1s'; begin`);
  const commit = (): Promise<boolean> => session.query('commit').then(() => false);
  return { isOver: () => commit().catch(() => true) };
}

/** The last statement with which a pass gives ledger rows their sequence numbers. */
const isSequencing: MessageFilter = ({ text }) => text.includes('sequenced_no = x.no');

it('a node that is paused between the round trips of a commit holds its calls for less than a second', async () => {
  const { proxy, paused, other } = await twoNodes();
  await paused.store.ledgerHead(); // so that the pause finds no other transaction
  const call = aCall(1);
  const before = call.createdAt + 60_000;
  const claim = (): ReturnType<Node['table']['claimOverdue']> =>
    other.table.claimOverdue(0, before, 10, null);
  const done = completed(call);
  const [ended] = await pauseAt(
    proxy,
    'request',
    ({ text }) => text.includes('insert into') && text.includes('.segments'),
    () => paused.store.replaceCall(done, 1, rowsOf(done, 1)),
  );
  const second = await aSecond();
  expect(await claim()).toEqual([]);
  await waitFor(async () => expect(await claim()).toMatchObject([{ id: call.id }]));
  expect(await second.isOver()).toBe(false);
  proxy.pass();
  expect(await ended).toMatchObject({ kind: 'conflict', elsewhere: true });
});

it('a node that is paused while it sequences holds up the others for less than a second', async () => {
  const { proxy, paused, other, rows } = await twoNodes();
  const [sequenced] = await pauseAt(proxy, 'request', isSequencing, () => paused.store.ledgerHead());
  const second = await aSecond();
  expect((await other.store.ledgerHead()).seq).toBe(rows);
  expect(await second.isOver()).toBe(false);
  proxy.pass();
  expect((await sequenced)?.seq).toBe(rows);
});

it('a node that is paused while it sequences holds up no heartbeat: its last statement goes with the commit', async () => {
  const { proxy, paused, other, rows } = await twoNodes();
  const [sequenced] = await pauseAt(
    proxy,
    'reply',
    ({ type, text }) => type === 'C' && text === 'UPDATE 1',
    () => paused.store.ledgerHead(),
  );
  expect((await other.table.beat(REPORT)).nodes).toHaveLength(2);
  expect((await other.store.ledgerHead()).seq).toBe(rows);
  proxy.pass();
  expect((await sequenced)?.seq).toBe(rows);
});

it('a node whose event loop is slow at each commit writes all the same, and once', async () => {
  const service = await sharedPostgres(15);
  let slowMs = 0;
  const slow = {
    sha256: (text: string): string => {
      for (const end = performance.now() + slowMs; performance.now() < end;);
      return digest.sha256(text);
    },
  };
  const store = await aPostgresStore(service.url, { schema: aSchema(service), digest: slow });
  slowMs = 700;
  await store.append([anEntry()]);
  await store.append([anEntry()]);
  slowMs = 0;
  expect(await verifiedRows(store)).toBe(2);
});
