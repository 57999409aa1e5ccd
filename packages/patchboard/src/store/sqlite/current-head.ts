import type { DatabaseSync } from 'node:sqlite';
import { LOCAL_MODE_ENDED } from '../../core/access/local-mode.ts';
import { integer, text } from './rows.ts';
import type { StoreHead } from './store-head.ts';

/** The newest ledger row. */
export type LedgerEnd = Pick<StoreHead, 'seq' | 'hash'>;

/** Reads the head from the database. */
export function currentHead(database: DatabaseSync): StoreHead {
  const storeId = storeIdOf(database);
  if (storeId === null) throw new Error('the store has no id');
  return { storeId, ...ledgerEnd(database), keysExisted: haveKeysExisted(database) };
}

export function ledgerEnd(database: DatabaseSync): LedgerEnd {
  const end = database.prepare('select seq, hash from ledger_head').get();
  if (end === undefined) throw new Error('the store has no ledger head');
  return { seq: integer(end, 'seq'), hash: text(end, 'hash') };
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
