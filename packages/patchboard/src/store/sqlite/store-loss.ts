import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Digest } from '../../core/ports.ts';
import { storeIdOf } from './current-head.ts';
import { integer, text } from './rows.ts';
import { headFileOf, readHead, type StoreHead } from './store-head.ts';
import { StoreRefused } from '../store-refused.ts';
import { acceptLossCommand } from './sqlite-errors.ts';

/** The difference between a store and its head file, if rows are missing. */
export interface StoreLoss {
  /** The first ledger row that is missing or different; null if it is not known. */
  readonly seq: number | null;
  /** The file with the problem; `problem` is the predicate of a sentence about it. */
  readonly file: string;
  readonly problem: string;
  /** Null if the head file is invalid. */
  readonly expected: StoreHead | null;
}

/**
 * Compares the database with its head file. `database` is null if the file is missing, empty, or without tables. Returns
 * null if nothing is missing, or if there is no head file yet.
 */
export function findLoss(file: string, digest: Digest, database: DatabaseSync | null): StoreLoss | null {
  const found = readHead(file, digest);
  if (found.kind === 'none') return null;
  if (found.kind === 'refused')
    return { seq: null, file: headFileOf(file), problem: found.problem, expected: null };
  const { head } = found;
  const difference = database === null ? missingStore(file, head) : differenceOf(database, head);
  return difference === null ? null : { ...difference, file, expected: head };
}

export function isMissingOrEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Whether the database is empty, as after a crash before the first migration, or after the loss of the log. */
export function hasNoTables(database: DatabaseSync): boolean {
  return database.prepare('select 1 from sqlite_schema').get() === undefined;
}

/** The error for a start with a loss: the store is not changed, and the operator must decide. */
export function lossRefusal(file: string, loss: StoreLoss): StoreRefused {
  return new StoreRefused(
    loss.file,
    loss.problem,
    `restore the data folder from a backup, or accept the loss with: ${acceptLossCommand(file)}`,
  );
}

type Difference = Pick<StoreLoss, 'seq' | 'problem'>;

function missingStore(file: string, head: StoreHead): Difference {
  const isMissing = statSync(file, { throwIfNoEntry: false }) === undefined;
  const problem = `is ${isMissing ? 'missing' : 'empty'}, and its head file names ledger row ${head.seq}`;
  return { seq: 1, problem };
}

function differenceOf(database: DatabaseSync, head: StoreHead): Difference | null {
  const id = storeIdOf(database);
  if (id !== null && id !== head.storeId) {
    const problem = `is another store (id ${id}) than its head file names (id ${head.storeId})`;
    return { seq: null, problem };
  }
  const end = database.prepare('select seq from ledger_head').get();
  const last = end === undefined ? 0 : integer(end, 'seq');
  if (last < head.seq)
    return { seq: last + 1, problem: `ends at ledger row ${last}, and its head file names row ${head.seq}` };
  if (head.seq === 0) return null;
  const row = database.prepare('select hash from ledger where seq = ?').get(head.seq);
  if (row !== undefined && text(row, 'hash') === head.hash) return null;
  return { seq: head.seq, problem: `has another ledger row ${head.seq} than its head file names` };
}
