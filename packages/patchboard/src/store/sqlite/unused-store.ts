import { DatabaseSync } from 'node:sqlite';
import type { Digest } from '../../core/ports.ts';
import { copyDatabase, type DatabaseCopy } from './copy-database.ts';
import { ledgerEnd, type LedgerEnd } from './current-head.ts';
import { APPLICATION_ID } from './migrations.ts';
import { checkLedgerEnd, checkPages } from './open.ts';
import { findLoss, hasNoTables, isMissingOrEmpty, lossRefusal } from './store-loss.ts';
import { refusalOf } from './sqlite-errors.ts';
import { StoreRefused } from '../store-refused.ts';

const BUSY_TIMEOUT_MS = 250;

/** Copies a store that no server uses, without changing it. Refuses a store that is behind its head file. */
export async function copyUnusedStore(
  file: string,
  target: string,
  given: { readonly digest: Digest; readonly signal: AbortSignal },
): Promise<DatabaseCopy> {
  const database = openStoreFile(file, given.digest);
  try {
    return await copyDatabase(database, target, given.signal);
  } finally {
    database.close();
  }
}

/** Opens a store that no server uses, read-only. Throws `StoreRefused`, also if it is behind its head file. */
export function openStoreFile(file: string, digest: Digest): DatabaseSync {
  let database: DatabaseSync | null = null;
  try {
    if (!isMissingOrEmpty(file)) database = openReadOnly(file);
    const isEmpty = database === null || hasNoTables(database);
    const loss = findLoss(file, digest, isEmpty ? null : database);
    if (loss !== null) throw lossRefusal(file, loss);
    if (database === null || !isStore(database)) throw notAStore(file);
    return database;
  } catch (error) {
    database?.close();
    throw refusalOf(file, error);
  }
}

/** Checks every page and the end of the ledger of a copy, and returns its newest ledger row. Throws `StoreRefused`. */
export function checkCopy(file: string, digest: Digest): LedgerEnd {
  let database: DatabaseSync | null = null;
  try {
    database = openReadOnly(file);
    if (!isStore(database)) throw notAStore(file);
    checkPages(database, file);
    checkLedgerEnd(database, file, digest);
    return ledgerEnd(database);
  } catch (error) {
    throw refusalOf(file, error);
  } finally {
    database?.close();
  }
}

function openReadOnly(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

function isStore(database: DatabaseSync): boolean {
  return database.prepare('pragma application_id').get()?.['application_id'] === APPLICATION_ID;
}

function notAStore(file: string): StoreRefused {
  return new StoreRefused(file, 'is not a Patchboard store', 'name another data folder');
}
