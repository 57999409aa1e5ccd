import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Digest } from '../../core/ports.ts';
import { currentHead } from '../sqlite/current-head.ts';
import { MIGRATIONS } from '../sqlite/migrations.ts';
import { openStoreFile } from '../sqlite/unused-store.ts';
import { StoreRefused } from '../store-refused.ts';
import type { CopiedRow, CopiedTable } from './copied-tables.ts';

const BATCH_ROWS = 2000;
const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** A row of the ledger as SQLite stores it. */
export interface SourceLedgerRow {
  readonly seq: number;
  readonly at: number;
  readonly tenant: string;
  readonly kind: string;
  readonly call_id: string | null;
  readonly trace_id: string | null;
  readonly body: string;
  readonly hash: string;
}

/** The store of a data folder that no server uses. While it is open, no server can start on it. */
export class SqliteSource {
  readonly #database: DatabaseSync;

  /** Throws `StoreRefused` if the store cannot be used, is behind its head file, or is of an older version. */
  constructor(file: string, digest: Digest) {
    this.#database = openStoreFile(file, digest);
    const version = Number(this.#database.prepare('pragma user_version').get()?.['user_version']);
    if (version !== MIGRATIONS.length) {
      this.#database.close();
      throw new StoreRefused(
        file,
        `has store version ${version}, and this Patchboard copies version ${MIGRATIONS.length}`,
        'start and stop a server on it first, which brings it forward',
      );
    }
    // Holds a read transaction, so that all tables are read in one state.
    this.#database.exec('begin');
  }

  get head(): { readonly seq: number; readonly hash: string } {
    return currentHead(this.#database);
  }

  count(table: string): number {
    return Number(this.#database.prepare(`select count(*) as rows from ${table}`).get()?.['rows']);
  }

  /** The times of the first and the last row, epoch milliseconds; null if there is none. */
  months(): { readonly from: number; readonly to: number } | null {
    const times = ['calls order by id', 'ledger order by seq'].flatMap((rows) =>
      ['', ' desc'].flatMap((direction) => {
        const column = rows.startsWith('calls') ? 'created_at' : 'at';
        const row = this.#database.prepare(`select ${column} as time from ${rows}${direction} limit 1`).get();
        return row === undefined ? [] : [Number(row['time'])];
      }),
    );
    return times.length === 0 ? null : { from: Math.min(...times), to: Math.max(...times) };
  }

  rows(table: CopiedTable): Generator<CopiedRow[]> {
    return batches(this.#database.prepare(table.source).iterate() as Iterable<CopiedRow>);
  }

  ledger(): Generator<SourceLedgerRow[]> {
    return batches(
      this.#database.prepare('select * from ledger order by seq').iterate() as Iterable<
        SourceLedgerRow & Record<string, SQLOutputValue>
      >,
    );
  }

  close(): void {
    this.#database.close();
  }
}

/** Groups rows, bounded by their number and the size of their texts. */
function* batches<Row extends object>(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    batch.push(row);
    for (const value of Object.values(row)) if (typeof value === 'string') characters += value.length;
    if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}
