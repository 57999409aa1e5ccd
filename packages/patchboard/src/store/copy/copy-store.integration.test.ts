import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../../test/support/a-folder.ts';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import { queryOnce } from '../../../test/services/with-client.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import type { Store } from '../../core/ports.ts';
import { Connection } from '../../postgres/connection.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { firstCallIdAt, timeOrderedIds } from '../../runtime/ids.ts';
import { postgresStore } from '../postgres/open.ts';
import {
  aCall,
  aRecord,
  aRun,
  aTool,
  anEntry,
  completed,
  digest,
  executing,
  failed,
  rowsOf,
  withoutCursors,
} from '../samples.contract.ts';
import { sqliteStore } from '../sqlite/sqlite-store.ts';
import { StoreRefused } from '../store-refused.ts';
import { copyStore, type CopyReport } from './copy-store.ts';

const DAY = 86_400_000;
const BEGAN = Date.UTC(2026, 0, 20);
const CALLS = 40;
const LARGE = 'x'.repeat(10_000_000);

/** A store over two months: open and ended calls, keys, runs, tools, documents and journals. */
async function fill(store: Store): Promise<string[]> {
  let now = BEGAN;
  const ids = timeOrderedIds({ now: () => now });
  const made: string[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    now = BEGAN + n * DAY;
    const call = aCall(n, {
      id: ids.next('tc_'),
      createdAt: now,
      tenant: n % 3 === 0 ? 'acme' : 'other',
      runId: `run_${n % 7}`,
      argsJson: JSON.stringify({ n, text: n === 1 ? LARGE : '天气 "quoted" \\ \u0000 🙂' }),
      origin: null,
      traceId: n % 2 === 0 ? `trace-${n}` : null,
    });
    const scope = n % 5 === 0 ? { scope: `scope-${n}`, bodyHash: `hash-${n}`, expiresAt: now + DAY } : null;
    await store.insertCall(aRecord(call, scope));
    if (n % 4 !== 0) {
      const running = executing(call);
      const done = n % 4 === 1 ? failed(running) : completed(running);
      await store.replaceCall(done, call.version, rowsOf(done, call.timeline.length));
    }
    made.push(call.id);
  }
  await store.ensureRun(aRun({ id: 'run_empty' }), anEntry());
  await store.cancelRun('acme', 'run_empty', now, anEntry());
  await store.saveTools([aTool('a.b'), aTool('a.c')], anEntry());
  await store.putDocument('key', 'key_1', '{"secret":"é"}', [anEntry()]);
  await store.putDocument('local_mode', 'ended', '{}', []);
  for (let no = 0; no < 3; no += 1)
    await store.appendJournal('j', no, [{ kind: 'k', body: 'x'.repeat(2_500_000) }]);
  return made;
}

interface Place {
  readonly file: string;
  readonly url: string;
  readonly schema: string;
  copy(): Promise<CopyReport>;
  sql(text: string): Promise<Record<string, unknown>[]>;
  open(): Promise<Store>;
}

async function aPlace(): Promise<Place> {
  const service = await sharedPostgres(15);
  const schema = aSchema(service);
  const file = join(await aFolder(), 'patchboard.db');
  const options = connectionOptions(service.url);
  return {
    file,
    url: service.url,
    schema,
    async copy() {
      const connection = new Connection({ options, name: 'copy', prepare: true });
      try {
        const target = { connection, schema, shown: options.shown, storeId: 'store' };
        return await copyStore({ file, target, digest, firstIdAt: firstCallIdAt, progress: () => {} });
      } finally {
        await connection.close();
      }
    },
    async sql(text) {
      return await queryOnce(service.url, text.replaceAll('$s', schema));
    },
    async open() {
      const store = await postgresStore({
        url: service.url,
        schema,
        digest,
        now: Date.now,
        firstIdAt: firstCallIdAt,
      });
      onTestFinished(() => store.close());
      return store;
    },
  };
}

async function filled(place: Place): Promise<{ ids: string[]; head: { seq: number; hash: string } }> {
  const store = await sqliteStore({ file: place.file, digest });
  const ids = await fill(store);
  const head = await store.ledgerHead();
  await store.close();
  return { ids, head };
}

async function idsOfOpen(store: Store): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.openCalls()) ids.push(id);
  return ids;
}

/** What a client of the store sees. */
async function seen(store: Store, ids: readonly string[]): Promise<unknown> {
  const rows = await store.readLedger({}, 0, 10_000);
  return {
    calls: await Promise.all(ids.map(async (id) => await store.findCall(id))),
    rows: rows.map(({ row }) => ({ ...row, place: undefined })),
    open: await idsOfOpen(store),
    runs: withoutCursors((await store.listRuns({ tenant: 'acme' }, null, 100)).items),
    tools: await store.tools(),
    documents: [await store.documents('key'), await store.documents('local_mode')],
    journal: await store.readJournal('j', 0, 10),
    ended: [await store.countEnded('acme'), await store.countEnded('other')],
    states: await store.countByState(),
  };
}

describe('a copy of a store', () => {
  it('has every record, the same chain and order, and goes on from there', async () => {
    const place = await aPlace();
    const { ids, head } = await filled(place);
    const report = await place.copy();
    expect(report.ok).toBe(true);
    expect(report.tables.map(({ name, target }) => [name, target.rows])).toEqual([
      ['documents', 2],
      ['tools', 2],
      ['runs', expect.any(Number)],
      ['journals', 3],
      ['calls', CALLS],
    ]);
    expect(report.ledger.target).toEqual({ rows: head.seq, hash: head.hash, problem: null });
    expect(report.states).toContainEqual({ name: 'PENDING', source: 10, target: 10 });

    for (const table of ['calls', 'ended_calls', 'ledger'])
      expect(await place.sql(`select * from $s.${table}_default`)).toEqual([]);

    const before = await sqliteStore({ file: place.file, digest });
    const expected = await seen(before, ids);
    await before.close();
    const store = await place.open();
    expect(await seen(store, ids)).toEqual(expected);
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: head.seq });

    // An idempotency key still refers to its call.
    const again = aCall(999, { id: 'tc_zzz', createdAt: BEGAN + 1, tenant: 'acme', runId: 'run_0' });
    const used = { scope: 'scope-0', bodyHash: 'hash-0', expiresAt: BEGAN + DAY };
    expect(await store.insertCall(aRecord(again, used))).toMatchObject({ kind: 'duplicate', callId: ids[0] });
    await store.append([anEntry()]);
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: head.seq + 1 });
  });

  it('of an empty store is an empty store', async () => {
    const place = await aPlace();
    await (await sqliteStore({ file: place.file, digest })).close();
    expect(await place.copy()).toMatchObject({ ok: true, states: [], ledger: { target: { rows: 0 } } });
    const store = await place.open();
    await store.append([anEntry()]);
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: 1 });
  });

  it('is refused by a schema with data or a server, which stays as it is', async () => {
    const place = await aPlace();
    await filled(place);
    const other = await place.open();
    await expect(place.copy()).rejects.toThrow('is in use by a server');
    await other.append([anEntry()]);
    await other.close();
    await expect(place.copy()).rejects.toThrow('holds data in its schema');
    expect((await (await place.open()).ledgerHead()).seq).toBe(1);
  });

  it('is made in a schema that a server created and left empty', async () => {
    const place = await aPlace();
    await filled(place);
    await (await place.open()).close();
    expect((await place.copy()).ok).toBe(true);
  });

  it('that was interrupted is refused by a server, and made anew by the next copy', async () => {
    const place = await aPlace();
    const { ids } = await filled(place);
    // A table that a copy writes after others is missing its partition key: the copy fails there.
    await (await place.open()).close();
    await place.sql('alter table $s.calls add constraint stop check (false) not valid');
    await expect(place.copy()).rejects.toThrow('stop');
    await expect(place.open()).rejects.toThrow(StoreRefused);
    await expect(place.open()).rejects.toThrow('a copy into it was interrupted; repeat the copy');
    expect((await place.copy()).ok).toBe(true);
    expect(await (await place.open()).findCall(ids[3] ?? '')).toBeDefined();
  });

  it('that differs is reported, and refused by a server', async () => {
    const place = await aPlace();
    await filled(place);
    await (await place.open()).close();
    // Changes one row on its way.
    await place.sql(`create function $s.spoil() returns trigger language plpgsql as
      $$ begin if new.id = 'key_1' then new.body := '{}'; end if; return new; end $$;
      create trigger spoil before insert on $s.documents for each row execute function $s.spoil()`);
    const report = await place.copy();
    expect(report.ok).toBe(false);
    const [documents] = report.tables;
    expect(documents?.source.sha256).not.toBe(documents?.target.sha256);
    await expect(place.open()).rejects.toThrow('a copy into it was interrupted');
  });

  it('of a damaged file fails, and a server refuses what it left', async () => {
    const place = await aPlace();
    await filled(place);
    const bytes = readFileSync(place.file);
    // Pages in the middle of the large call and of the journal.
    bytes.fill(0xa5, Math.floor(bytes.length / 4), Math.floor(bytes.length / 2));
    writeFileSync(place.file, bytes);
    await expect(place.copy()).rejects.toThrow();
    await expect(place.open()).rejects.toThrow(StoreRefused);
  });

  it('of a ledger that is broken says so', async () => {
    const place = await aPlace();
    await filled(place);
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(place.file);
    database.exec(`drop trigger ledger_keeps_rows; update ledger set tenant = 'forged' where seq = 5`);
    database.close();
    const report = await place.copy();
    expect(report).toMatchObject({
      ok: false,
      ledger: { source: { rows: 4, problem: 'row 5 was changed' } },
    });
  });
});
