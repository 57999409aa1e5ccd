import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { integer } from './rows.ts';

/** Calls that are filed together. A list of a run's calls looks at up to so many that are not filed yet. */
const FILED_AT_ONCE = 1024;

/**
 * Files calls under their runs, many at a time and sorted, so that each page is written once for all of its calls.
 * What is not filed yet is found by its number. The numbers go back with a transaction that fails.
 */
export class CallsOfRuns {
  readonly #file: StatementSync;
  readonly #moveEnd: StatementSync;
  readonly #remove: StatementSync;
  #filed: number;
  #last: number;

  constructor(database: DatabaseSync) {
    this.#file = database.prepare(
      `insert into calls_of_runs select run_id, tenant, id, no from calls where no > ? order by run_id, tenant, id`,
    );
    this.#moveEnd = database.prepare('update calls_of_runs_end set no = ? where one = 1');
    this.#remove = database.prepare('delete from calls_of_runs where run_id = ? and tenant = ? and id = ?');
    const row = database
      .prepare('select no as filed, (select max(no) from calls) as last from calls_of_runs_end')
      .get();
    this.#filed = row === undefined ? 0 : integer(row, 'filed');
    // Also when the newest calls are gone: a number that was filed is never given again.
    this.#last = Math.max(this.#filed, Number(row?.['last'] ?? 0));
  }

  /** The number of a new call. */
  next(): number {
    this.#last += 1;
    return this.#last;
  }

  /** One of the last statements of a transaction. */
  fileIfDue(): void {
    if (this.#last - this.#filed < FILED_AT_ONCE) return;
    this.#file.run(this.#filed);
    this.#moveEnd.run(this.#last);
    this.#filed = this.#last;
  }

  remove(runId: string, tenant: string, id: string): void {
    this.#remove.run(runId, tenant, id);
  }

  save(): () => void {
    const filed = this.#filed;
    const last = this.#last;
    return () => {
      this.#filed = filed;
      this.#last = last;
    };
  }
}
