import { StorageUnavailable } from '../../../core/failures.ts';
import type { IndexBatch } from '../../../core/search/call-search.ts';
import { lockPartitions } from '../../../postgres/advisory-locks.ts';
import type { LimitedTransaction, Queryable } from '../../../postgres/connection.ts';
import { isPrivilegeMissing, isTimeout, isTransient } from '../../../postgres/sql-errors.ts';
import {
  ensureIndexPartitions,
  monthOf,
  nextMonth,
  partitionName,
  startOf,
  type Month,
  type PartitionedSchema,
} from '../partitions.ts';

/** Every search waits while a partition is dropped, so the lock must be free soon. */
const LOCK_TIMEOUT = '500ms';
/** For statements that delete all rows. The connection's own limit is for short statements. */
const LONG_MS = 600_000;
/** Pages that one statement reads, 128 MB: a month can be too large for the limit of a statement. */
const PAGES_PER_READ = 16_384;

/** The partitioned tables, with the column that decides whether a row is old. */
type PartitionedTable = readonly [name: string, endedAt: 'ended_at' | 'at'];

/** `renew` is called between reads: a long check must not cost the node its lease. */
interface Forgetting {
  readonly before: number;
  readonly renew: () => Promise<unknown>;
}

/** Rows of a month that would be late: they ended at or after `before`. */
interface CheckedRows {
  readonly partition: string;
  readonly endedAt: PartitionedTable[1];
  readonly before: number;
}

/**
 * The partitions of the index, one per month. Old rows leave with their month: rows of a month that is not over for retention
 * are only hidden, because deleting them one by one would free no space that new rows, of later months, could use.
 */
export class IndexPartitions {
  readonly #parts: PartitionedSchema;
  readonly #tables: readonly PartitionedTable[];
  /** Months whose partitions this process has made or found. */
  readonly #known: Set<Month> = new Set();
  readonly #pagesPerRead: number;

  constructor(parts: PartitionedSchema, pagesPerRead: number = PAGES_PER_READ) {
    this.#parts = parts;
    this.#pagesPerRead = pagesPerRead;
    this.#tables = [
      [parts.tables.indexed_calls, 'ended_at'],
      [parts.tables.indexed_refusals, 'at'],
    ];
  }

  /** Makes the partitions that the batch needs. Rows go to the default partition if the role may not make them. */
  async ensure({ calls, refusals }: Pick<IndexBatch, 'calls' | 'refusals'>): Promise<void> {
    const times = [...calls.map(({ createdAt }) => createdAt), ...refusals.map(({ at }) => at)];
    for (const month of new Set(times.map(monthOf))) {
      if (this.#known.has(month)) continue;
      await ensureIndexPartitions(month, this.#parts);
      this.#known.add(month);
    }
  }

  /** Removes the rows of all partitions: those that this role owns are dropped. */
  async clear(transaction: LimitedTransaction): Promise<void> {
    this.#known.clear();
    const { indexed_names: names, call_metrics: metrics } = this.#parts.tables;
    await transaction.allowLong(LONG_MS);
    await lockPartitions(transaction, this.#parts.schema);
    for (const [table] of this.#tables) {
      for (const month of await this.#monthsOf(transaction, table))
        await transaction.run(`drop table ${partitionName(table, month)}`);
      await transaction.run(`delete from ${table}`);
    }
    await transaction.run(`delete from ${names}; delete from ${metrics}`);
  }

  /** Drops the months whose rows all ended before, and deletes older rows of the default partition. */
  async forget(before: number, renew: () => Promise<unknown>): Promise<void> {
    for (const partitioned of this.#tables) {
      const [table, endedAt] = partitioned;
      await this.#dropMonths(partitioned, { before, renew });
      const text = `delete from ${table}_default where ${endedAt} < $1`;
      // Without the schema: PostgreSQL compares the first 63 bytes of a name.
      const name = `forget_${endedAt}`;
      await this.#parts.connection.transaction((transaction) => transaction.query({ name, text }, [before]));
    }
  }

  /** Stops at the first month that cannot be dropped: the tables are busy, or a call of it ended later. */
  async #dropMonths([table, endedAt]: PartitionedTable, { before, renew }: Forgetting): Promise<void> {
    const { connection } = this.#parts;
    try {
      for (;;) {
        const [month] = await this.#monthsOf(connection, table);
        if (month === undefined || startOf(nextMonth(month)) > before) return;
        const position = await this.#position(connection);
        const checked = { partition: partitionName(table, month), endedAt, before };
        const pages = await this.#pagesOf(checked.partition);
        for (let from = 0; from < pages; from += this.#pagesPerRead) {
          if (await hasLater(connection, checked, from, from + this.#pagesPerRead)) return;
          await renew();
        }
        if (!(await this.#drop(table, month, position))) return;
      }
    } catch (error) {
      // `StorageUnavailable`: a read outside of a transaction waited for a lock or took too long.
      const isBusy = error instanceof StorageUnavailable || isTransient(error) || isTimeout(error);
      if (!isBusy && !isPrivilegeMissing(error)) throw error;
    }
  }

  async #pagesOf(partition: string): Promise<number> {
    const text = `select pg_relation_size($1::regclass) / current_setting('block_size')::int as pages`;
    const values = [partition];
    const { rows } = await this.#parts.connection.query<{ pages: number }>(
      { name: 'pages_of', text },
      values,
    );
    return rows[0]?.pages ?? 0;
  }

  /** Drops the month, unless a batch was written since the check: by another node that has the lease now. */
  async #drop(table: string, month: Month, position: number): Promise<boolean> {
    const { connection, schema } = this.#parts;
    return await connection.transaction(async (transaction) => {
      await lockPartitions(transaction, schema);
      if ((await this.#position(transaction, 'for update')) !== position) return false;
      // Another process may have dropped it meanwhile.
      if (!(await this.#monthsOf(transaction, table)).includes(month)) return true;
      const partition = partitionName(table, month);
      await transaction.run(`set local lock_timeout = '${LOCK_TIMEOUT}'; drop table ${partition}`);
      return true;
    });
  }

  /** The position of the index: every batch sets it in its transaction. */
  async #position(queryable: Queryable, locking: 'for update' | '' = ''): Promise<number> {
    const text = `select seq from ${this.#parts.tables.index_state} where one = 1 ${locking}`;
    const name = locking === '' ? 'index_position' : 'lock_index_position';
    return (await queryable.query<{ seq: number }>({ name, text })).rows[0]?.seq ?? 0;
  }

  /** The months of the table's partitions that this role may drop, oldest first. */
  async #monthsOf(transaction: Queryable, table: string): Promise<readonly Month[]> {
    const text = `select substring(c.relname from '_(\\d+)$')::int as month
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass and c.relname ~ '_\\d+$' and pg_has_role(c.relowner, 'usage') order by 1`;
    const { rows } = await transaction.query<{ month: Month }>({ name: 'months_of_index', text }, [table]);
    return rows.map(({ month }) => month);
  }
}

/** Whether a page from `from` to before `to` has a row that ended later. */
async function hasLater(
  queryable: Queryable,
  { partition, endedAt, before }: CheckedRows,
  from: number,
  to: number,
): Promise<boolean> {
  const text = `select 1 as found from ${partition}
    where ctid >= $2::tid and ctid < $3::tid and ${endedAt} >= $1 limit 1`;
  // The name ends with the month: a statement is prepared for one partition.
  const name = `later_${endedAt}_${partition.slice(-6)}`;
  const { rows } = await queryable.query({ name, text }, [before, `(${from},0)`, `(${to},0)`]);
  return rows.length > 0;
}
