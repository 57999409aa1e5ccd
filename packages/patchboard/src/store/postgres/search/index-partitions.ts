import type { IndexBatch } from '../../../core/search/call-search.ts';
import { lockPartitions } from '../../../postgres/advisory-locks.ts';
import type { Queryable, Transaction } from '../../../postgres/connection.ts';
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
/** The connection's own limit is for short statements. */
const LONG_DELETE = `set local statement_timeout = '10min'`;

/** The partitioned tables, with the column that decides whether a row is old. */
type PartitionedTable = readonly [name: string, endedAt: 'ended_at' | 'at'];

/**
 * The partitions of the index, one per month. Old rows leave with their month: rows of a month that is not over for retention
 * are only hidden, because deleting them one by one would free no space that new rows, of later months, could use.
 */
export class IndexPartitions {
  readonly #parts: PartitionedSchema;
  readonly #tables: readonly PartitionedTable[];
  /** Months whose partitions this process has made or found. */
  readonly #known: Set<Month> = new Set();

  constructor(parts: PartitionedSchema) {
    this.#parts = parts;
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
  async clear(transaction: Transaction): Promise<void> {
    this.#known.clear();
    const { indexed_names: names, call_metrics: metrics } = this.#parts.tables;
    await transaction.run(LONG_DELETE);
    await lockPartitions(transaction, this.#parts.schema);
    for (const [table] of this.#tables) {
      for (const month of await this.#monthsOf(transaction, table))
        await transaction.run(`drop table ${partitionName(table, month)}`);
      await transaction.run(`delete from ${table}`);
    }
    await transaction.run(`delete from ${names}; delete from ${metrics}`);
  }

  /** Drops the months whose rows all ended before, and deletes older rows of the default partition. */
  async forget(before: number): Promise<void> {
    for (const [table, endedAt] of this.#tables) {
      await this.#dropMonths(table, endedAt, before);
      const text = `delete from ${table}_default where ${endedAt} < $1`;
      // Without the schema: PostgreSQL compares the first 63 bytes of a name.
      const name = `forget_${endedAt}`;
      await this.#parts.connection.transaction((transaction) => transaction.query({ name, text }, [before]));
    }
  }

  /** Stops at the first month that cannot be dropped: the tables are busy, or a call of it ended later. */
  async #dropMonths(table: string, endedAt: string, before: number): Promise<void> {
    const { connection, schema } = this.#parts;
    for (let isDropped = true; isDropped;) {
      try {
        isDropped = await connection.transaction(async (transaction) => {
          await lockPartitions(transaction, schema);
          const [oldest] = await this.#monthsOf(transaction, table);
          if (oldest === undefined || startOf(nextMonth(oldest)) > before) return false;
          const partition = partitionName(table, oldest);
          const late = {
            name: `late_${endedAt}_${oldest}`,
            text: `select 1 as found from ${partition} where ${endedAt} >= $1 limit 1`,
          };
          if ((await transaction.query(late, [before])).rows.length > 0) return false;
          await transaction.run(`set local lock_timeout = '${LOCK_TIMEOUT}'; drop table ${partition}`);
          return true;
        });
      } catch (error) {
        if (!isTransient(error) && !isTimeout(error) && !isPrivilegeMissing(error)) throw error;
        return;
      }
    }
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
