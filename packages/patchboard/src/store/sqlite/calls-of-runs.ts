import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { integer } from './rows.ts';

/** Calls that are indexed together. A list of a run's calls scans up to this many unindexed calls. */
const INDEXED_AT_ONCE = 1024;

/**
 * Maintains the table that indexes calls by run. Calls are inserted in sorted batches, so that each database page is
 * written once per batch. Calls that are not indexed yet are found by their numbers. A rollback restores the counters.
 */
export class CallsOfRuns {
  readonly #index: StatementSync;
  readonly #moveEnd: StatementSync;
  readonly #remove: StatementSync;
  #indexed: number;
  #last: number;

  constructor(database: DatabaseSync) {
    this.#index = database.prepare(
      `insert into calls_of_runs select run_id, tenant, id, no from calls where no > ? order by run_id, tenant, id`,
    );
    this.#moveEnd = database.prepare('update calls_of_runs_end set no = ? where one = 1');
    this.#remove = database.prepare('delete from calls_of_runs where run_id = ? and tenant = ? and id = ?');
    const row = database
      .prepare('select no as filed, (select max(no) from calls) as last from calls_of_runs_end')
      .get();
    this.#indexed = row === undefined ? 0 : integer(row, 'filed');
    // Also if the newest calls were removed: the number of an indexed call is never reused.
    this.#last = Math.max(this.#indexed, Number(row?.['last'] ?? 0));
  }

  /** Returns the number of a new call. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Must be called at the end of a transaction. */
  indexIfDue(): void {
    if (this.#last - this.#indexed < INDEXED_AT_ONCE) return;
    this.#index.run(this.#indexed);
    this.#moveEnd.run(this.#last);
    this.#indexed = this.#last;
  }

  remove(runId: string, tenant: string, id: string): void {
    this.#remove.run(runId, tenant, id);
  }

  save(): () => void {
    const indexed = this.#indexed;
    const last = this.#last;
    return () => {
      this.#indexed = indexed;
      this.#last = last;
    };
  }
}
