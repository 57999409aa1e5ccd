import { messageOf } from '../../core/failures.ts';
import { lockPartitions } from '../../postgres/advisory-locks.ts';
import type { Connection, Queryable, Transaction } from '../../postgres/connection.ts';
import { sqlState } from '../../postgres/sql-errors.ts';
import type { Tables } from './schema.ts';

/** What partitions of any table are made with. */
export interface PartitionedSchema {
  /** Only for transactions: other statements would become part of them. */
  readonly connection: Connection;
  readonly schema: string;
  readonly tables: Tables;
}

export interface PartitionParts extends PartitionedSchema {
  /** Returns the smallest id that a call made at that time, or later, can have. */
  readonly firstIdAt: (ms: number) => string;
}

/** A month, UTC, as `yyyymm`. */
export type Month = number;

interface Partition {
  readonly parent: string;
  readonly table: string;
  /** Inclusive, as SQL. */
  readonly from: string;
  /** Exclusive, as SQL. */
  readonly to: string;
}

/**
 * Makes the partitions of this month and the next that do not exist. Returns the problem if one cannot be made: because the
 * role may not create tables, or the default partition has rows of that month. Rows then go to the default partition.
 */
export async function ensurePartitions(
  parts: PartitionParts & { readonly now: number },
): Promise<string | null> {
  const month = monthOf(parts.now);
  const wanted = [month, nextMonth(month)].flatMap((each) => partitionsOf(each, parts));
  return await ensureAll(wanted, parts);
}

/** Makes the partitions of the index of calls for one month. Returns the problem as `ensurePartitions` does. */
export async function ensureIndexPartitions(month: Month, parts: PartitionedSchema): Promise<string | null> {
  return await ensureAll(indexPartitionsOf(month, parts.tables), parts);
}

async function ensureAll(wanted: readonly Partition[], parts: PartitionedSchema): Promise<string | null> {
  const problems: string[] = [];
  for (const partition of wanted) {
    const problem = await ensure(partition, parts);
    if (problem !== null) problems.push(problem);
  }
  return problems[0] ?? null;
}

export function monthOf(ms: number): Month {
  const date = new Date(ms);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

/** Returns the first millisecond of the month. */
export function startOf(month: Month): number {
  return Date.UTC(Math.floor(month / 100), (month % 100) - 1);
}

export function nextMonth(month: Month): Month {
  return month % 100 === 12 ? month + 89 : month + 1;
}

/** The partition's name, qualified as that of its parent. */
export function partitionName(parent: string, month: Month): string {
  return `${parent}_${month}`;
}

function partitionsOf(month: Month, { tables, firstIdAt }: PartitionParts): Partition[] {
  const next = nextMonth(month);
  // An id has letters, digits and underscores only.
  const ids = { from: `'${firstIdAt(startOf(month))}'`, to: `'${firstIdAt(startOf(next))}'` };
  return [
    { ...named(tables.ledger, month), from: String(month), to: String(next) },
    { ...named(tables.calls, month), ...ids },
    { ...named(tables.ended_calls, month), ...ids },
    ...indexPartitionsOf(month, tables),
  ];
}

function indexPartitionsOf(month: Month, tables: Tables): Partition[] {
  const times = { from: String(startOf(month)), to: String(startOf(nextMonth(month))) };
  return [
    { ...named(tables.indexed_calls, month), ...times },
    { ...named(tables.indexed_refusals, month), ...times },
  ];
}

function named(parent: string, month: Month): Pick<Partition, 'parent' | 'table'> {
  return { parent, table: partitionName(parent, month) };
}

async function ensure(
  partition: Partition,
  { connection, schema }: PartitionedSchema,
): Promise<string | null> {
  try {
    await connection.transaction(async (transaction) => {
      if (await exists(transaction, schema, partition.table)) return;
      await lockPartitions(transaction, schema);
      if (!(await exists(transaction, schema, partition.table))) await create(transaction, partition);
    });
    return null;
  } catch (error) {
    if (sqlState(error) === null) throw error;
    return `the partition ${partition.table} cannot be made: ${messageOf(error)}`;
  }
}

/** Reads the catalog and not `to_regclass`, which may not see what another process committed during this transaction. */
async function exists(transaction: Queryable, schema: string, table: string): Promise<boolean> {
  const text = `select 1 as found from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = $2`;
  const { rows } = await transaction.query({ name: 'partition_exists', text }, [schema, table.split('.')[1]]);
  return rows.length > 0;
}

/** Attaching a table locks the default partition for a moment; creating it as a partition would lock the whole table. */
async function create(transaction: Transaction, { parent, table, from, to }: Partition): Promise<void> {
  await transaction.run(`create table ${table} (like ${parent} including all);
    alter table ${parent} attach partition ${table} for values from (${from}) to (${to})`);
}
