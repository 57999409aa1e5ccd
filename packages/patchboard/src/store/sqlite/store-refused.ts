import { dirname } from 'node:path';
import { messageOf } from '../../core/failures.ts';

/** The file cannot be used as it is. It was left as it was found; the message is one line for an operator. */
export class StoreRefused extends Error {
  readonly file: string;

  constructor(file: string, problem: string, remedy: string) {
    super(`${file} ${problem}; ${remedy}`);
    this.name = 'StoreRefused';
    this.file = file;
  }
}

/** The command by which an operator goes on without what is lost. */
export function acceptLossCommand(file: string): string {
  return `patchboard data accept-loss --data ${shellWord(dirname(file))}`;
}

/** The path as it is typed in a shell. */
function shellWord(path: string): string {
  return /^[\w./+:@%-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Another process, most likely a server, has it open. */
export class StoreInUse extends StoreRefused {
  constructor(file: string) {
    super(
      file,
      'is in use by another process',
      'stop that process, or give this one a data folder of its own',
    );
    this.name = 'StoreInUse';
  }
}

const BUSY = 5;
const NOMEM = 7;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** SQLite's primary result code, if the error is SQLite's. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null;
  return error.errcode & 0xff;
}

/** Not the fault of any one write: the next one would meet it too. */
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

export function damaged(file: string, problem: string): StoreRefused {
  return new StoreRefused(
    file,
    `is damaged (${problem})`,
    `restore the data folder from a backup, or move the database and its log away and go on without them: ${acceptLossCommand(file)}`,
  );
}

/** What an error while opening means to an operator. */
export function refusalOf(file: string, error: unknown): StoreRefused {
  if (error instanceof StoreRefused) return error;
  switch (sqliteCode(error)) {
    case BUSY:
      return new StoreInUse(file);
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
