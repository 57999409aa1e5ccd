import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Call } from '../../core/call/call.ts';
import { READ_COLUMNS, toCall } from './call-row.ts';
import { text } from './rows.ts';

/** Reads single calls by key. In stores of older versions, missing columns are null. */
export class CallReader {
  readonly #byId: StatementSync;
  readonly #byNo: StatementSync;

  constructor(database: DatabaseSync) {
    const kept = new Set(
      database
        .prepare("select name from pragma_table_info('calls')")
        .all()
        .map((row) => text(row, 'name')),
    );
    const columns = READ_COLUMNS.map((name) => (kept.has(name) ? name : 'null')).join(', ');
    this.#byId = database.prepare(`select ${columns} from calls where id = ?`);
    this.#byNo = database.prepare(`select ${columns} from calls where no = ?`);
    this.#byId.setReturnArrays(true);
    this.#byNo.setReturnArrays(true);
  }

  find(id: string): Call | undefined {
    const row = this.#byId.get(id);
    return row === undefined ? undefined : toCall(row);
  }

  findByNo(no: number): Call | undefined {
    const row = this.#byNo.get(no);
    return row === undefined ? undefined : toCall(row);
  }
}
