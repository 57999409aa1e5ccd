import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyLedger, type LedgerVerdict } from '../../core/ledger/ledger-check.ts';
import { plainRow } from '../../core/ledger/ledger.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { readOnlyStore } from './read-only.ts';
import { sqliteStore } from './sqlite-store.ts';
import { StoreInUse, StoreRefused } from '../store-refused.ts';

const ROWS = 400;
let folder = '';
let file = '';

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-'));
  file = join(folder, 'patchboard.db');
  const store = await sqliteStore({ file, digest: nodeDigest });
  const rows = Array.from({ length: ROWS }, (_, index) =>
    plainRow('key.created', 'default', index, { index }),
  );
  await store.putDocument('key', 'key_1', '{"id":"key_1"}', rows);
  await store.close();
});

afterEach(() => rmSync(folder, { recursive: true }));

async function verdict(): Promise<LedgerVerdict> {
  const store = readOnlyStore(file, nodeDigest);
  try {
    return await verifyLedger(store, nodeDigest);
  } finally {
    store.close();
  }
}

/** Changes the file like an attacker who wants to hide something. */
function tamper(sql: string): void {
  const database = new DatabaseSync(file);
  database.exec('drop trigger ledger_keeps_rows; drop trigger ledger_loses_no_rows');
  database.exec(sql);
  database.close();
}

describe('a store opened for reading only', () => {
  it('returns ledger and documents, and changes nothing', async () => {
    const before = readFileSync(file);
    const store = readOnlyStore(file, nodeDigest);
    expect(await store.ledgerHead()).toMatchObject({ seq: ROWS });
    expect((await store.readLedger({}, 0, 3)).map(({ row }) => row.seq)).toEqual([1, 2, 3]);
    expect(await store.documents('key')).toEqual([{ id: 'key_1', body: '{"id":"key_1"}' }]);
    store.close();
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('allows an intact ledger to be verified', async () => {
    expect(await verdict()).toMatchObject({ ok: true, rows: ROWS });
  });

  it.each([
    ['changed early', `update ledger set body = '{"index":7}' where seq = 3`, 3],
    ['changed late', `update ledger set tenant = 'other' where seq = ${ROWS}`, ROWS],
    ['deleted', 'delete from ledger where seq = 200', 200],
    [
      'reordered',
      `update ledger set seq = -1 where seq = 5; update ledger set seq = 5 where seq = 6;
       update ledger set seq = 6 where seq = -1`,
      5,
    ],
    ['cut off at the end', `delete from ledger where seq > ${ROWS - 2}`, ROWS - 1],
    ['cut off with its head', `delete from ledger where seq > 390; update ledger_head set seq = 390`, 390],
  ])('reports where a row was %s', async (_what, sql, seq) => {
    tamper(sql);
    expect(await verdict()).toMatchObject({ ok: false, seq });
  });

  it('refuses a store that a server has open, a file that is not a store, and a missing file', async () => {
    const server = await sqliteStore({ file, digest: nodeDigest });
    expect(() => readOnlyStore(file, nodeDigest)).toThrow(StoreInUse);
    await server.close();
    const text = join(folder, 'text');
    writeFileSync(text, 'not a database, however long it may be');
    expect(() => readOnlyStore(text, nodeDigest)).toThrow('is not a Patchboard store');
    expect(() => readOnlyStore(join(folder, 'missing'), nodeDigest)).toThrow(StoreRefused);
  });
});
