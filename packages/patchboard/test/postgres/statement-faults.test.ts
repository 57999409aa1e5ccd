import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LedgerDraft } from '../../src/core/ledger/ledger.ts';
import { connectionOptions } from '../../src/postgres/connection-options.ts';
import { Connection } from '../../src/postgres/connection.ts';
import { aCall, aRecord, anEntry, callId, insertAll } from '../../src/store/samples.contract.ts';
import { isCommit, startProxy, type PostgresProxy } from '../services/proxy.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { aPostgresStore, aSession, verifiedRows } from './support/a-postgres-store.ts';

const service = await sharedPostgres(15);
let proxy: PostgresProxy;

beforeAll(async () => {
  proxy = await startProxy(service);
});
afterAll(() => proxy.close());

const numbers = (count: number, from = 1): number[] => Array.from({ length: count }, (_, n) => from + n);

describe('a write that makes its batch fail', () => {
  it('is rejected alone with the reason; the others are stored in their order', async () => {
    const store = await aPostgresStore(service.url, { schema: aSchema(service) });
    const entry = (body: string): LedgerDraft => anEntry({ body });
    const writes: readonly (readonly [run: () => Promise<unknown>, error: RegExp | null])[] = [
      [() => store.append([entry('first')]), null],
      [() => store.insertCall(aRecord(aCall(1, { runId: 'a\0b' }))), /invalid byte sequence.*0x00/],
      [() => store.insertCall(aRecord(aCall(2))), null],
      [() => store.append([entry('character \0')]), /invalid byte sequence.*0x00/],
      [() => store.insertCall(aRecord(aCall(3, { createdAt: 1e300 }))), /number 1e\+300 is out of range/],
      [() => store.insertCall(aRecord(aCall(4, { runId: 'lone \ud800' }))), null],
      // The same id twice.
      [() => store.insertCall(aRecord(aCall(2, { version: 7 }))), /duplicate key.*calls/],
      [
        () => store.insertCall(aRecord(aCall(5, { runId: randomText(9000) }))),
        /index row requires 9024 bytes/,
      ],
      [() => store.append([entry('last')]), null],
    ];
    const results = await Promise.allSettled(writes.map(([run]) => run()));
    for (const [index, [, error]] of writes.entries()) {
      const result = results[index];
      if (error === null) expect(result, `write ${index}`).toMatchObject({ status: 'fulfilled' });
      else
        expect((result as PromiseRejectedResult).reason, `write ${index}`).toMatchObject({
          message: expect.stringMatching(error),
        });
    }
    const rows = await store.readLedger({}, 0, 10);
    expect(rows.map(({ row }) => row.callId ?? row.body)).toEqual(['first', callId(2), callId(4), 'last']);
    expect(await verifiedRows(store)).toBe(4);
    expect(store.writeProblem()).toBeNull();
  });

  it('because another session holds a lock: alone for a row, with its batch for a table', async () => {
    await Promise.all([lockedRow(), lockedTable()]);
  });

  it('because the disk is full is rejected as such; reads go on, and writes when there is room', async () => {
    const schema = aSchema(service);
    const store = await aPostgresStore(service.url, { schema });
    await insertAll(store, [aCall(1)]);
    const other = await aSession(service.url);
    await other.query(`
      create function ${schema}.fill() returns trigger language plpgsql as
        $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
      create trigger full_order before insert on ${schema}.ledger_order execute function ${schema}.fill();
      create trigger full_calls before insert on ${schema}.open_calls execute function ${schema}.fill()`);
    await expect(insertAll(store, [aCall(2)])).rejects.toMatchObject({ name: 'StorageFull' });
    await store.append([anEntry()]); // committed, but it gets no sequence number for now
    expect(await store.findCall(callId(1))).toEqual(aCall(1));
    const { seq } = await store.ledgerHead();
    expect(await store.readLedger({}, 0, 10)).toHaveLength(seq);
    await other.query(`drop function ${schema}.fill cascade`);
    await insertAll(store, [aCall(2)]);
    expect(await verifiedRows(store)).toBe(3);
  });
});

/** A superuser whose settings a test changes. It is dropped after the schema that it owns. */
async function aRole(): Promise<string> {
  const role = `role_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client(service.url);
  await client.connect();
  await client.query(`create role ${role} login superuser`);
  onTestFinished(async () => {
    await client.query(`drop owned by ${role} cascade; drop role ${role}`);
    await client.end();
  });
  return role;
}

describe('a connection', () => {
  it('whose replies do not arrive any more is replaced', async () => {
    const url = proxy.through(service.url);
    const connection = new Connection({
      options: connectionOptions(url),
      name: 'silent',
      prepare: true,
      replyMs: 200,
    });
    onTestFinished(() => connection.close());
    const statement = { name: 'answer', text: 'select 42 as answer' };
    await connection.query(statement);
    const swallowing = proxy.swallowFrom('reply', ({ type }) => type === 'D');
    expect((await connection.query(statement)).rows).toEqual([{ answer: 42 }]);
    await swallowing;
  });

  it('that leads to a primary which accepts no writes serves reads, and writes get 503 until it can write again', async () => {
    const admin = await aSession(service.url);
    const role = await aRole();
    const store = await aPostgresStore(service.urlFor(role, 'postgres'), { schema: aSchema(service) });
    await insertAll(store, [aCall(1)]);
    expect(await verifiedRows(store)).toBe(1);
    await admin.query(`alter role ${role} set default_transaction_read_only = on`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
    const unavailable = { name: 'StorageUnavailable', message: expect.stringContaining('read-only') };
    await expect(store.insertCall(aRecord(aCall(2)))).rejects.toMatchObject(unavailable);
    expect(store.writeProblem()).toContain('read-only');
    expect(await store.findCall(callId(1))).toEqual(aCall(1));
    expect(await verifiedRows(store)).toBe(1);
    await admin.query(`alter role ${role} reset default_transaction_read_only`);
    await waitFor(() => expect(store.writeProblem()).toBeNull());
    await waitFor(async () => await insertAll(store, [aCall(3)]));
    expect(await store.findCall(callId(3))).toEqual(aCall(3));
    // Its session began while the role was read-only, and would stay so.
    expect(await verifiedRows(store)).toBe(2);
  });

  it('that is lost for long: waiting writes fail, later ones at once, and the one in doubt is settled', async () => {
    const schema = aSchema(service);
    const store = await aPostgresStore(proxy.through(service.url), { schema });
    await store.ledgerHead();
    const cut = proxy.cutAt('reply', isCommit).then(() => proxy.refuse());
    const inDoubt = store.insertCall(aRecord(aCall(1)));
    await cut;
    const unavailable = { name: 'StorageUnavailable' };
    const waiting = numbers(50, 10).map((n) => store.insertCall(aRecord(aCall(n))));
    for (const one of await Promise.allSettled([...waiting, store.findCall(callId(1)), store.ledgerHead()]))
      expect(one).toMatchObject({ status: 'rejected', reason: unavailable });
    expect(store.writeProblem()).toMatch(/cannot be reached: /);
    // One after the other: if each waited, this would take hours.
    for (const n of numbers(2000)) {
      await expect(store.findCall(callId(n))).rejects.toMatchObject(unavailable);
      if (n <= 5) await expect(store.insertCall(aRecord(aCall(100 + n)))).rejects.toMatchObject(unavailable);
    }
    proxy.pass();
    expect(await inDoubt).toEqual({ kind: 'inserted' });
    await waitFor(() => expect(store.writeProblem()).toBeNull());
    await insertAll(store, [aCall(2)]);
    expect(await verifiedRows(store)).toBe(2);
  });
});

/** The other writes of the batch succeed. */
async function lockedRow(): Promise<void> {
  const schema = aSchema(service);
  const store = await aPostgresStore(service.url, { schema });
  await insertAll(store, [aCall(1, { runId: 'locked' }), aCall(2)]);
  const other = await aSession(service.url);
  await other.query(`begin; select from ${schema}.runs where id = 'locked' for update`);
  const calls = numbers(100, 10).map((n) => aCall(n, n === 73 ? { runId: 'locked' } : {}));
  const results = await Promise.allSettled(calls.map((call) => store.insertCall(aRecord(call))));
  expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [calls[index]?.id] : []))).toEqual([
    callId(73),
  ]);
  expect(results[63]).toMatchObject({
    reason: {
      name: 'StorageUnavailable',
      message: expect.stringMatching(/another session may hold a lock/),
    },
  });
  await other.query('commit');
  await insertAll(store, [aCall(73, { runId: 'locked' })]);
  expect(await verifiedRows(store)).toBe(102);
}

/** Fails after some seconds, not halved down to the single write: every part would wait for the lock. */
async function lockedTable(): Promise<void> {
  const schema = aSchema(service);
  const store = await aPostgresStore(service.url, { schema });
  await insertAll(store, [aCall(1)]);
  const other = await aSession(service.url);
  await other.query(`begin; lock table ${schema}.calls in access exclusive mode`);
  const written = await Promise.allSettled(numbers(300, 10).map((n) => store.insertCall(aRecord(aCall(n)))));
  for (const one of written) expect(one).toMatchObject({ reason: { name: 'StorageUnavailable' } });
  expect(store.writeProblem()).toMatch(/canceling statement due to lock timeout/);
  const reading = store.findCall(callId(1));
  await other.query('commit');
  expect(await reading).toEqual(aCall(1));
  await insertAll(store, [aCall(2)]);
  expect(store.writeProblem()).toBeNull();
  expect(await verifiedRows(store)).toBe(2);
}

function randomText(length: number): string {
  let text = '';
  for (let n = 1; text.length < length; n += 1) text += Math.sin(n).toString(36).slice(2);
  return text.slice(0, length);
}
