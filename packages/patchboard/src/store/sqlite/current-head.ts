import type { DatabaseSync } from 'node:sqlite';
import { LOCAL_MODE_ENDED } from '../../core/access/local-mode.ts';
import { integer, text } from './rows.ts';
import type { StoreHead } from './store-head.ts';

/** Reads the head from the database. */
export function currentHead(database: DatabaseSync): StoreHead {
  const end = database.prepare('select seq, hash from ledger_head').get();
  const storeId = storeIdOf(database);
  if (end === undefined || storeId === null) throw new Error('the store has no id or no ledger head');
  return {
    storeId,
    seq: integer(end, 'seq'),
    hash: text(end, 'hash'),
    keysExisted: haveKeysExisted(database),
  };
}

/** Returns null for a store of a version without ids. */
export function storeIdOf(database: DatabaseSync): string | null {
  const table = database.prepare(`select 1 from sqlite_schema where name = 'store_identity'`).get();
  if (table === undefined) return null;
  const row = database.prepare('select id from store_identity').get();
  return row === undefined ? null : text(row, 'id');
}

function haveKeysExisted(database: DatabaseSync): boolean {
  const { kind, id } = LOCAL_MODE_ENDED;
  return database.prepare('select 1 from documents where kind = ? and id = ?').get(kind, id) !== undefined;
}
