import { fdatasync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { BackupOptions, DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { StorageFull } from '../../core/failures.ts';
import { ledgerEnd, type LedgerEnd } from './current-head.ts';
import { isBusyBackup, isFull } from './sqlite-errors.ts';

/** Not a static import: that would fail on an older Node before `node-version.ts` can report the required version. */
const { backup, DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');

/** Pages per step. A step blocks other statements of the connection, so it must be short: half a megabyte. */
const PAGES_PER_STEP = 64;

/** The last step syncs the copy and blocks other statements meanwhile; the copy is synced this often before. */
const STEPS_PER_SYNC = 32;

/** A copy tries to begin for ten seconds, which is far longer than a transaction takes. */
const RETRY_MS = 5;
const ATTEMPTS = 2000;

export interface DatabaseCopy {
  readonly bytes: number;
  /** The newest ledger row in the copy. */
  readonly head: LedgerEnd;
}

/**
 * Copies an open database to a new file that only this user can read, in small steps, while the connection is used. The copy
 * contains every commit up to its end and needs no log. Rejects with `StorageFull` if there is no space. If it rejects, or
 * `signal` aborts, no file is left.
 */
export async function copyDatabase(
  database: DatabaseSync,
  file: string,
  signal: AbortSignal,
): Promise<DatabaseCopy> {
  signal.throwIfAborted();
  await refuseSmallDisk(database, dirname(file));
  const target = await open(file, 'wx', 0o600);
  try {
    let steps = 0;
    let isSyncing = false;
    const progress = (): void => {
      // An exception is the only way to end the copy.
      signal.throwIfAborted();
      steps += 1;
      if (steps % STEPS_PER_SYNC !== 0 || isSyncing) return;
      isSyncing = true;
      // An error shows again in the last step, which syncs too.
      fdatasync(target.fd, () => (isSyncing = false));
    };
    await backUp(database, file, { rate: PAGES_PER_STEP, progress }, signal);
    signal.throwIfAborted();
    const head = withoutLog(file);
    await target.sync();
    return { bytes: (await target.stat()).size, head };
  } catch (error) {
    await removeCopy(file);
    throw isFull(error) || isNoSpace(error) ? new StorageFull() : error;
  } finally {
    await target.close();
  }
}

/**
 * The first step, which runs in another thread, fails if it finds the connection within a transaction that writes; nothing was
 * copied then. A later step is repeated by Node itself.
 */
async function backUp(
  database: DatabaseSync,
  file: string,
  options: BackupOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await backup(database, file, options);
      return;
    } catch (error) {
      if (!isBusyBackup(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new Error('no backup could begin, because write transactions were open for 10 seconds', {
          cause: error,
        });
    }
    await pause(RETRY_MS);
    signal.throwIfAborted();
  }
}

/** Removes a copy, and what SQLite writes beside one. */
export async function removeCopy(file: string): Promise<void> {
  for (const path of [file, `${file}-journal`, `${file}-wal`]) await rm(path, { force: true });
}

/** Fails before the disk is full, which would also fail the writes of others. */
async function refuseSmallDisk(database: DatabaseSync, folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const size = database
    .prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
    .get();
  if (Number(size?.['bytes']) > bavail * bsize) throw new StorageFull();
}

/** The copy has the journal mode of the source. Without a log it is one file, which a read-only connection can open. */
function withoutLog(file: string): LedgerEnd {
  const copy = new Database(file);
  try {
    copy.exec('pragma locking_mode = exclusive; pragma journal_mode = delete');
    return ledgerEnd(copy);
  } finally {
    copy.close();
  }
}

function isNoSpace(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOSPC';
}
