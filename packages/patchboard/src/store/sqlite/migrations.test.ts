import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOpen, type Call } from '../../core/call/call.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import { chainHash, GENESIS, plainRow, type LedgerKind } from '../../core/ledger/ledger.ts';
import type { Store } from '../../core/ports.ts';
import { aCall, completed, digest, insertAll, rowsOf } from '../samples.contract.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations.ts';
import { readOnlyStore } from './read-only.ts';
import { sqliteStore } from './sqlite-store.ts';
import { readHead } from './store-head.ts';

/** Written by a server of that version: 26 calls of 3 runs that completed or failed, two open ones, 79 ledger rows. */
const STORES = new URL('../../../test/support/stores/', import.meta.url);
const CALLS = 26;
const ROWS = 79;
const FOREVER = 8_640_000_000_000_000;

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-migrations-'));
  file = join(folder, 'store.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function callsOf(store: Store, runId?: string): Promise<Call[]> {
  const found: Call[] = [];
  let cursor: string | null = null;
  do {
    const filter = { tenant: 'default', ...(runId === undefined ? {} : { runId }) };
    const page = await store.listCalls(filter, cursor, 5);
    found.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

describe.each(['version-1'])('a store of %s', (version) => {
  beforeEach(() => {
    writeFileSync(file, gunzipSync(readFileSync(new URL(`${version}.db.gz`, STORES))));
  });

  it('is verified without a change', async () => {
    const before = readFileSync(file);
    const store = readOnlyStore(file, digest);
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: ROWS });
    store.close();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('is migrated to the newest version with all data, and can be used', async () => {
    const before = rowsIn(file, 'select id, state, args, result, tail from calls order by id');
    const ledger = rowsIn(file, 'select * from ledger order by seq');
    let store = await sqliteStore({ file, digest });
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: ROWS });
    const calls = await callsOf(store);
    expect(calls.map(({ id }) => id)).toEqual(before.map(({ id }) => id).reverse());
    for (const run of ['run_0', 'run_1', 'run_2']) {
      expect(await callsOf(store, run)).toEqual(calls.filter(({ runId }) => runId === run));
    }
    expect(calls.filter(isOpen).map(({ state }) => state.name)).toEqual(['PENDING', 'APPROVAL_REQUIRED']);

    const { agentId } = calls[0]!;
    const added = completed(aCall(1, { id: 'tc_zz', tenant: 'default', runId: 'run_0', agentId }));
    await insertAll(store, [added]);
    await store.close();
    store = await sqliteStore({ file, digest });
    expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: ROWS + rowsOf(added).length });
    expect((await callsOf(store, 'run_0'))[0]).toEqual(added);
    const removed = await store.purgeCalls(FOREVER, 1000);
    expect(removed).toBe(CALLS - 2 + 1);
    expect(await callsOf(store, 'run_0')).toEqual([]);
    await store.close();
    expect(rowsIn(file, 'pragma user_version')).toEqual([{ user_version: MIGRATIONS.length }]);
    expect(rowsIn(file, `select * from ledger where seq <= ${ROWS} order by seq`)).toEqual(ledger);
  });
});

describe('a store of the version before stores had ids', () => {
  /** A store of that version, with these ledger rows and no valid key. */
  function write(kinds: readonly LedgerKind[]): void {
    const database = new DatabaseSync(file);
    database.exec(`${MIGRATIONS.slice(0, 4).join(';')};
      pragma application_id = ${APPLICATION_ID}; pragma user_version = 4`);
    let hash = GENESIS;
    for (const [index, kind] of kinds.entries()) {
      const draft = plainRow(kind, 'default', index, {});
      hash = chainHash(digest, hash, index + 1, draft);
      database
        .prepare('insert into ledger (seq, at, tenant, kind, body, hash) values (?, ?, ?, ?, ?, ?)')
        .run(index + 1, draft.at, draft.tenant, kind, draft.body, hash);
    }
    database.prepare('update ledger_head set seq = ?, hash = ?').run(kinds.length, hash);
    database.close();
  }

  it.each([
    { kinds: ['run.created'], ended: [] },
    { kinds: ['key.created', 'run.created', 'key.revoked'], ended: [{ id: 'ended', body: '{}' }] },
  ] as const)('has no local mode if keys existed: $kinds', async ({ kinds, ended }) => {
    write(kinds);
    const store = await sqliteStore({ file, digest });
    expect(await store.documents('local_mode')).toEqual(ended);
    await store.close();
    const head = readHead(file, digest);
    const [identity] = rowsIn(file, 'select id from store_identity');
    expect(head).toMatchObject({
      kind: 'read',
      head: { storeId: identity?.['id'], seq: kinds.length, keysExisted: ended.length > 0 },
    });
  });
});

function rowsIn(path: string, sql: string): Record<string, unknown>[] {
  const database = new DatabaseSync(path, { readOnly: true });
  const rows = database.prepare(sql).all();
  database.close();
  return rows.map((row) => ({ ...row }));
}
