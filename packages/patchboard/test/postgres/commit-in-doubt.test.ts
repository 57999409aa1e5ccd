import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import {
  aCall,
  aRecord,
  aRun,
  aTool,
  anEntry,
  completed,
  insertAll,
  rowsOf,
} from '../../src/store/samples.contract.ts';
import { isCommit, startProxy, type MessageFilter, type PostgresProxy } from '../services/proxy.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { aPostgresStore, aSession, verifiedRows } from './support/a-postgres-store.ts';

const service = await sharedPostgres(15);
let proxy: PostgresProxy;

beforeAll(async () => {
  proxy = await startProxy(service);
});
afterAll(() => proxy.close());

const key = (scope: string): { scope: string; bodyHash: string; expiresAt: number } => ({
  scope,
  bodyHash: 'b',
  expiresAt: 9e12,
});
const call = aCall(1);
const done = completed(call);

/** Each writes one batch. A second execution would return something else, or add ledger rows. */
const writes: Readonly<
  Record<string, (store: PostgresStore) => Promise<readonly [result: unknown, expected: unknown]>>
> = {
  'a call of a new run, with a key': async (store) => [
    await store.insertCall(aRecord(call, key('k1'))),
    { kind: 'inserted' },
  ],
  'the end of a call': async (store) => [
    await store.replaceCall(done, 1, rowsOf(done, 1)),
    { kind: 'replaced' },
  ],
  'a call without a key': async (store) => [
    await store.insertCall(aRecord(aCall(2, { runId: 'run_2' }))),
    { kind: 'inserted' },
  ],
  'a document': async (store) => [await store.addDocument('key', 'd1', '{}', [anEntry()]), true],
  'a journal': async (store) => [
    await store.appendJournal('run_1', 0, [{ kind: 'message', body: '{}' }]),
    true,
  ],
  'a run': async (store) => [await store.ensureRun(aRun({ id: 'run_3' }), anEntry()), aRun({ id: 'run_3' })],
  'the end of a run': async (store) => [await store.cancelRun('acme', 'run_3', 7, anEntry()), true],
  tools: async (store) => [await store.saveTools([aTool('camera.take')], anEntry()), []],
};
const ROWS = rowsOf(done).length + 5;

async function expectAllOnce(store: PostgresStore): Promise<void> {
  expect(await verifiedRows(store)).toBe(ROWS);
  expect(await store.findCall(done.id)).toEqual(done);
  expect(await store.readJournal('run_1', 0, 10)).toHaveLength(1);
  expect(await store.countByState()).toEqual({ PENDING: 1, COMPLETED: 1 });
  expect(await store.insertCall(aRecord(aCall(9, { runId: 'run_9' }), key('k1')))).toMatchObject({
    kind: 'duplicate',
    callId: call.id,
  });
}

/** Of the batch, not of a transaction of the sequencer, whose statements are not prepared. */
const isSentCommit: MessageFilter = (message) => message.type === 'E' && isCommit(message);

const cuts: Readonly<Record<string, () => Promise<void>>> = {
  'before the changes arrive': () =>
    proxy.cutAt('request', ({ type, text }) => type === 'E' && text.startsWith('begin')),
  'before the ledger rows arrive': () =>
    proxy.cutAt(
      'request',
      ({ type, text }) => type === 'E' && text.includes('insert into') && text.includes('.segments'),
    ),
  'before the commit arrives': () => proxy.cutAt('request', isSentCommit),
  'after the commit, before its reply': () => proxy.cutAt('reply', isCommit),
};

describe('a connection that is cut', () => {
  it.each(Object.keys(cuts))('%s: every write has the right result and is applied once', async (when) => {
    const store = await aPostgresStore(proxy.through(service.url), { schema: aSchema(service) });
    for (const [what, write] of Object.entries(writes)) {
      await store.ledgerHead(); // no transaction of the sequencer meets the proxy
      const cut = cuts[when]?.();
      const [result, expected] = await write(store);
      expect(result, what).toEqual(expected);
      await cut;
    }
    await expectAllOnce(store);
  });

  it('leaves the first attempt running: the second waits for its end, and its result holds', async () => {
    const schema = aSchema(service);
    const store = await aPostgresStore(proxy.through(service.url), { schema });
    const other = await aSession(service.url);
    // Holds each commit of a batch while the other session has the lock.
    await other.query(`
      create function ${schema}.hold() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(hashtext('${schema}'), 7); return null; end $$;
      create constraint trigger hold after insert on ${schema}.segments deferrable initially deferred
        for each row execute function ${schema}.hold()`);
    const waiting = async (): Promise<number[]> => {
      const { rows } = await other.query<{ pid: number }>(
        `select a.pid from pg_stat_activity a where wait_event_type = 'Lock' and application_name = 'patchboard writer'
          and exists (select 1 from pg_locks l where l.pid = a.pid and l.relation = '${schema}.segments'::regclass)`,
      );
      return rows.map(({ pid }) => pid);
    };
    for (const [what, write] of Object.entries(writes)) {
      await other.query(`select pg_advisory_lock(hashtext('${schema}'), 7)`);
      const written = write(store);
      written.catch(() => undefined);
      const [first] = await waitFor(async () => {
        const pids = await waiting();
        expect(pids, what).toHaveLength(1);
        return pids;
      });
      proxy.cut();
      const [second] = await waitFor(async () => {
        const pids = (await waiting()).filter((pid) => pid !== first);
        expect(pids, what).toHaveLength(1);
        return pids;
      });
      // As a lock timeout of the second attempt does.
      await other.query('select pg_cancel_backend($1)', [second]);
      await other.query(`select pg_advisory_unlock(hashtext('${schema}'), 7)`);
      const [result, expected] = await written;
      expect(result, what).toEqual(expected);
    }
    await expectAllOnce(store);
  });

  it('leaves the first attempt running: it cannot commit after the second', async () => {
    const schema = aSchema(service);
    const store = await aPostgresStore(proxy.through(service.url), { schema });
    const other = await aSession(service.url);
    for (const [what, write] of Object.entries(writes)) {
      await other.query(`begin; lock table ${schema}.ledger in exclusive mode`);
      const written = write(store);
      written.catch(() => undefined);
      await waitFor(async () => {
        const { rows } = await other.query(
          `select 1 from pg_locks where not granted and relation = '${schema}.ledger'::regclass`,
        );
        expect(rows, what).toHaveLength(1);
      });
      proxy.cut();
      await other.query('commit');
      const [result, expected] = await written;
      expect(result, what).toEqual(expected);
    }
    await expectAllOnce(store);
  });

  it('before a takeover: what was stored resolves, and later writes are rejected', async () => {
    const schema = aSchema(service);
    const store = await aPostgresStore(proxy.through(service.url), { schema });
    await store.ledgerHead();
    const cut = proxy.cutAt('reply', isCommit).then(() => proxy.refuse());
    const inDoubt = store.insertCall(aRecord(call));
    await cut;
    const successor = await aPostgresStore(service.url, { schema });
    await insertAll(successor, [aCall(2)]);
    proxy.pass();
    expect(await inDoubt).toEqual({ kind: 'inserted' });
    await expect(store.insertCall(aRecord(aCall(3)))).rejects.toThrow('another server has taken over');
    expect(await verifiedRows(successor)).toBe(2);
  });
});
