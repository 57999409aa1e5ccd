import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { GENESIS, chainHash, type LedgerRow } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { toLedgerRow } from './ledger-table.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations.ts';
import { findLoss, hasNoTables, isMissingOrEmpty, lossRefusal, type StoreLoss } from './store-loss.ts';
import { StoreRefused } from '../store-refused.ts';
import { damaged, refusalOf } from './sqlite-errors.ts';

/** Not a static import: that would fail on an older Node before `node-version.ts` can report the required version. */
const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');

/** Long enough for a process that is just ending, and short enough for a quick error. */
const BUSY_TIMEOUT_MS = 250;

/** Up to this size, all pages are checked at startup, which takes a fraction of a second. */
const FULL_CHECK_BYTES = 64 * 1024 * 1024;

/** Number of rows at the end of the ledger that are always verified, because an interrupted write damages the end. */
const CHECKED_LEDGER_ROWS = 256;

const PAGE_BYTES = 8192;

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** The accepted loss; null if there is none. */
  readonly loss: StoreLoss | null;
}

/**
 * Opens the file exclusively for this process and migrates it to the newest version. Checks everything over a read-only
 * connection first, so that a refused file is not changed. Refuses a store behind its head file unless `acceptsLoss`.
 */
export function openDatabase(file: string, digest: Digest, acceptsLoss: boolean): OpenedDatabase {
  let database: DatabaseSync | null = null;
  try {
    const loss = isMissingOrEmpty(file) ? findLoss(file, digest, null) : inspect(file, digest);
    if (loss !== null && !acceptsLoss) throw lossRefusal(file, loss);
    makeIfMissing(file);
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS, defensive: true });
    // The operating system releases the lock when the process ends, however it ends. Taken before WAL mode is entered,
    // it also avoids the shared-memory file.
    database.exec(`pragma locking_mode = exclusive; pragma page_size = ${PAGE_BYTES}`);
    database.exec('begin immediate; commit');
    configure(database);
    migrate(database);
    return { database, loss };
  } catch (error) {
    database?.close();
    throw refusalOf(file, error);
  }
}

/** Creates a missing file, readable by this user only. */
function makeIfMissing(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Reports missing permissions, for which SQLite would report a disk error. */
function refuseForeign(file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch {
    throw new StoreRefused(
      file,
      'cannot be read and written by this user',
      'start as the user that owns it, or give the file to this one',
    );
  }
}

/** Returns the loss of the store, if any. Throws if the file cannot be used. */
function inspect(file: string, digest: Digest): StoreLoss | null {
  refuseForeign(file);
  const database = new Database(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    const version = readPragma(database, 'user_version');
    const application = readPragma(database, 'application_id');
    // A crash before the first migration leaves an empty database.
    if (version === 0 && application === 0 && hasNoTables(database)) return findLoss(file, digest, null);
    if (application !== APPLICATION_ID) {
      throw new StoreRefused(
        file,
        'is a database of another program',
        'name another file, or move this one away',
      );
    }
    if (version > MIGRATIONS.length) {
      throw new StoreRefused(
        file,
        `was written by a newer Patchboard (store version ${version}, this one knows ${MIGRATIONS.length})`,
        'start that version, or name another file',
      );
    }
    if (statSync(file).size <= FULL_CHECK_BYTES) checkPages(database, file);
    checkLedgerEnd(database, file, digest);
    return findLoss(file, digest, database);
  } finally {
    database.close();
  }
}

export function checkPages(database: DatabaseSync, file: string): void {
  const found = database.prepare('pragma quick_check(1)').get()?.['quick_check'];
  if (found !== 'ok') throw damaged(file, String(found).replaceAll(/\s+/g, ' '));
}

export function checkLedgerEnd(database: DatabaseSync, file: string, digest: Digest): void {
  const head = database.prepare('select seq, hash from ledger_head').get();
  const rows = database
    .prepare('select * from ledger order by seq desc limit ?')
    .all(CHECKED_LEDGER_ROWS + 1)
    .map(toLedgerRow)
    .reverse();
  const last = rows.at(-1);
  if (head === undefined || head['seq'] !== (last?.seq ?? 0) || head['hash'] !== (last?.hash ?? GENESIS)) {
    throw damaged(file, `the ledger should end at row ${String(head?.['seq'])}`);
  }
  const wrong = firstBrokenLink(rows, digest);
  if (wrong !== undefined) throw damaged(file, `ledger row ${wrong.seq} does not fit the one before it`);
}

/** The first of the given rows is not verified itself, unless it is row 1: its predecessor is not known. */
function firstBrokenLink(rows: readonly LedgerRow[], digest: Digest): LedgerRow | undefined {
  return rows.find((row, index) => {
    const previous = row.seq === 1 ? GENESIS : rows[index - 1]?.hash;
    return previous !== undefined && chainHash(digest, previous, row.seq, row) !== row.hash;
  });
}

/** `secure_delete` overwrites redacted and purged data, also in free pages. */
function configure(database: DatabaseSync): void {
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = normal;
    pragma foreign_keys = on;
    pragma trusted_schema = off;
    pragma temp_store = memory;
    pragma secure_delete = on;
    pragma cache_size = -8192;
    pragma journal_size_limit = 67108864;
  `);
}

function migrate(database: DatabaseSync): void {
  const version = readPragma(database, 'user_version');
  for (const [index, sql] of MIGRATIONS.entries()) {
    if (index < version) continue;
    database.exec(
      `begin immediate; ${sql}; pragma application_id = ${APPLICATION_ID}; pragma user_version = ${index + 1}; commit`,
    );
  }
}

function readPragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name]);
}
