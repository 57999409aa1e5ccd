import { reason, reasonsText, type ReasonView } from '@patchboard/wire';
import { closeSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { StorageUnavailable } from '../../../core/failures.ts';
import { sqliteCode } from '../sqlite-errors.ts';
import { INDEX_SCHEMA, INDEX_VERSION } from './schema.ts';

/** Not a static import, see `open.ts` of the store. */
const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');

const CORRUPT = 11;
const NOTADB = 26;
const SQL_ERROR = 1;
/** PERM, READONLY, IOERR and CANTOPEN. */
const NO_ACCESS: readonly number[] = [3, 8, 10, 14];
const APPLICATION_ID = 0x50_42_53_49;

/** Returns the path of the index beside a store. */
export function indexFileOf(storeFile: string): string {
  return join(dirname(storeFile), `${basename(storeFile, '.db')}-search.db`);
}

/** Whether the file is damaged, so that the index must be made anew. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CORRUPT || code === NOTADB || error instanceof RangeError;
}

/** Returns `StorageUnavailable` if the error means that the file or its folder cannot be read or written; otherwise the error. */
export function accessProblem(error: unknown, file: string): unknown {
  const problem = problemOfAccess(error);
  if (problem === null) return error;
  const why = (name: string): ReasonView => reason('search_index_unusable', { file: name, problem });
  // Callers do not learn where the server has its files.
  return new StorageUnavailable(reasonsText([why(file)]), why(basename(file)));
}

function problemOfAccess(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = sqliteCode(error);
  if (code !== null) return NO_ACCESS.includes(code) ? error.message : null;
  if (!('code' in error) || typeof error.code !== 'string') return null;
  // The messages of Node continue with the path.
  return /^E[A-Z]+: [^,]+/.exec(error.message)?.[0] ?? error.code;
}

/** Opens the index file; one that is missing, damaged or of another version is replaced by an empty one. */
export function openIndexFile(file: string): DatabaseSync {
  try {
    const existing = openFile(file);
    if (isCurrent(existing)) return existing;
    existing.close();
  } catch (error) {
    if (!isDamage(error) && sqliteCode(error) !== SQL_ERROR) throw error;
  }
  return replaceIndexFile(file);
}

/** The index is derived from the store, so that nothing is lost. */
export function replaceIndexFile(file: string): DatabaseSync {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) rmSync(name, { force: true });
  const database = openFile(file);
  database.exec(`begin; ${INDEX_SCHEMA}`);
  database.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${INDEX_VERSION}; commit`);
  return database;
}

function openFile(file: string): DatabaseSync {
  // Readable by this user only, as the store; SQLite gives its log the same mode.
  closeSync(openSync(file, 'a', 0o600));
  const database = new Database(file, { timeout: 250, defensive: true });
  try {
    database.exec(`
      pragma locking_mode = exclusive;
      pragma page_size = 4096;
      pragma journal_mode = wal;
      pragma synchronous = normal;
      pragma wal_autocheckpoint = 4000;
      pragma journal_size_limit = 33554432;
      pragma temp_store = memory;
      pragma cache_size = -16384;
      pragma mmap_size = 1073741824;
      pragma trusted_schema = off;
      pragma secure_delete = on;
    `);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function isCurrent(database: DatabaseSync): boolean {
  const read = (name: string): unknown => database.prepare(`pragma ${name}`).get()?.[name];
  return read('user_version') === INDEX_VERSION && read('application_id') === APPLICATION_ID;
}
