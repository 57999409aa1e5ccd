import { dirname } from 'node:path';
import { shellWord } from '@patchboard/wire';
import { messageOf } from '../../core/failures.ts';
import { StoreInUse, StoreRefused } from '../store-refused.ts';

/** Returns the command with which the operator accepts a loss. */
export function acceptLossCommand(file: string): string {
  return `patchboard data accept-loss --data ${shellWord(dirname(file))}`;
}

/** The refusal of a file that another process, most likely a server, has open. */
function fileInUse(file: string): StoreInUse {
  return new StoreInUse(
    file,
    'is in use by another process',
    'stop that process, or use another data folder',
  );
}

const OK = 0;
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** Returns SQLite's primary result code; null if the error is not from SQLite. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

/** Whether the error is not caused by a particular write, so that other writes would fail too. */
export function isEnvironmental(error: unknown): boolean {
  switch (sqliteCode(error)) {
    case BUSY:
    case NOMEM:
    case READONLY:
    case IOERR:
    case CORRUPT:
    case FULL:
    case CANTOPEN:
    case NOTADB:
      return true;
    default:
      return false;
  }
}

export function isFull(error: unknown): boolean {
  return sqliteCode(error) === FULL;
}

/**
 * Whether `backup()` of `node:sqlite` could not begin because of a write transaction. It then rejects with "not an error" and
 * the code of success: SQLite reports the state of the source, and Node reads the code of the target.
 */
export function isBusyBackup(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === OK || code === BUSY || code === LOCKED;
}

export function damaged(file: string, problem: string): StoreRefused {
  return new StoreRefused(
    file,
    `is damaged (${problem})`,
    `restore the data folder from a backup, or move the database and its log away and accept the loss with: ${acceptLossCommand(file)}`,
  );
}

/** Converts an error of opening the file to one for the operator. */
export function refusalOf(file: string, error: unknown): StoreRefused {
  if (error instanceof StoreRefused) return error;
  switch (sqliteCode(error)) {
    case BUSY:
      return fileInUse(file);
    case NOTADB:
      return new StoreRefused(file, 'is not a Patchboard store', 'name another file, or move this one away');
    case CORRUPT:
      return damaged(file, messageOf(error));
    case FULL:
    case IOERR:
      return new StoreRefused(
        file,
        `cannot be opened (${messageOf(error)})`,
        'check that its disk works and has free space',
      );
    default:
      return new StoreRefused(
        file,
        `cannot be opened (${messageOf(error)})`,
        'check that its folder exists and that this user may write there',
      );
  }
}
