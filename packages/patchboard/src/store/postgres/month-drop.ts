import { lockPartitions } from '../../postgres/advisory-locks.ts';
import type { Queryable, Transaction } from '../../postgres/connection.ts';
import { nextMonth, partitionName, startOf, type Month, type PartitionParts } from './partitions.ts';
import type { EndedCount } from './totals.ts';

/** Rows that one statement counts or deletes. */
const AT_ONCE = 5000;
/** Every reader and writer of calls waits while the partitions are dropped, so the lock must be free soon. */
const LOCK_TIMEOUT = '500ms';

/** A month whose calls all ended before a time, and how many they are. */
export interface OldMonth {
  readonly month: Month;
  readonly ended: readonly EndedCount[];
}

/**
 * Returns the oldest month that has partitions, lies before `before`, and has neither open calls nor calls that ended later.
 * `lastEnds` remembers when a late call of a month ended, so that the month is not counted again before that time.
 */
export async function findOldMonth(
  transaction: Queryable,
  parts: PartitionParts,
  before: number,
  lastEnds: Map<Month, number>,
): Promise<OldMonth | null> {
  for (const month of await monthsOf(transaction, parts)) {
    if (startOf(nextMonth(month)) > before) return null;
    if ((lastEnds.get(month) ?? -Infinity) >= before) continue;
    if (await hasOpenCalls(transaction, parts, month)) continue;
    const counted = await countEnded(transaction, parts, month, before);
    if (typeof counted !== 'number') return { month, ended: counted };
    lastEnds.set(month, counted);
  }
  return null;
}

/** Drops the calls of the month with their idempotency keys. Rejects with a lock timeout if the tables are busy. */
export async function dropMonth(
  transaction: Transaction,
  parts: PartitionParts,
  { month }: OldMonth,
): Promise<boolean> {
  const { calls, ended_calls: ended, idempotency } = parts.tables;
  const text = `delete from ${idempotency} where scope in (
    select scope from ${idempotency} where call_id >= $1 and call_id < $2 order by call_id limit ${AT_ONCE})`;
  const range = idsOf(month, parts);
  while ((await transaction.query({ name: 'drop_month_keys', text }, range)).count === AT_ONCE);
  await lockPartitions(transaction, parts.schema);
  await transaction.run(`set local lock_timeout = '${LOCK_TIMEOUT}'; lock table ${calls}, ${ended}`);
  if (await hasOpenCalls(transaction, parts, month)) return false;
  await transaction.run(`drop table ${partitionName(calls, month)}, ${partitionName(ended, month)}`);
  return true;
}

/** The months with partitions of `calls` and `ended_calls` that this role may drop, oldest first. */
async function monthsOf(transaction: Queryable, { tables }: PartitionParts): Promise<readonly Month[]> {
  const text = `select substring(c.relname from '\\d{6}$')::int as month
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ($1::regclass, $2::regclass) and c.relname ~ '_\\d{6}$' and pg_has_role(c.relowner, 'usage')
    group by 1 having count(*) = 2 order by 1`;
  const values = [tables.calls, tables.ended_calls];
  const { rows } = await transaction.query<{ month: Month }>({ name: 'months_of_calls', text }, values);
  return rows.map(({ month }) => month);
}

function idsOf(month: Month, { firstIdAt }: PartitionParts): [from: string, to: string] {
  return [firstIdAt(startOf(month)), firstIdAt(startOf(nextMonth(month)))];
}

async function hasOpenCalls(transaction: Queryable, parts: PartitionParts, month: Month): Promise<boolean> {
  const text = `select id from ${parts.tables.open_calls} where id >= $1 and id < $2 limit 1`;
  const { rows } = await transaction.query({ name: 'open_calls_of_month', text }, idsOf(month, parts));
  return rows.length > 0;
}

/** Returns the time at which a call ended, if that is `before` or later. The newest calls are counted first: they end last. */
async function countEnded(
  transaction: Queryable,
  { tables }: PartitionParts,
  month: Month,
  before: number,
): Promise<readonly EndedCount[] | number> {
  const statement = {
    name: `count_month_${month}`,
    text: `select c.tenant, w.state, count(*) as calls, max(w.ended_at) as latest, min(w.id) as first
      from (select id, state, ended_at from ${partitionName(tables.ended_calls, month)}
        where id < $1 order by id desc limit ${AT_ONCE}) w
      cross join lateral (select tenant from ${partitionName(tables.calls, month)} where id = w.id limit 1) c
      group by c.tenant, w.state`,
  };
  const ended: EndedCount[] = [];
  for (let first = 'tc_~'; ;) {
    const { rows } = await transaction.query<EndedCount & { latest: number; first: string }>(statement, [
      first,
    ]);
    const latest = Math.max(...rows.map((row) => row.latest));
    if (latest >= before) return latest;
    for (const row of rows) {
      ended.push(row);
      if (row.first < first) ({ first } = row);
    }
    if (rows.reduce((sum, { calls }) => sum + calls, 0) < AT_ONCE) return ended;
  }
}
