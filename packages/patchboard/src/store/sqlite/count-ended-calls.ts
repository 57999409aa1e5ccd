import type { DatabaseSync } from 'node:sqlite';
import { isTerminal, type CallStateName } from '@patchboard/wire';
import { stateNameOf } from '../state-codes.ts';
import { integer, text } from './rows.ts';

export interface EndedCallCount {
  readonly tenant: string;
  readonly state: CallStateName;
  readonly calls: number;
}

/**
 * Counts the ended calls at startup. Uses indexes: that of ids for all calls, and a partial one for calls that are not
 * completed. Only in a store with several tenants, the rows of the latter are read for their tenant.
 */
export function countEndedCalls(database: DatabaseSync): EndedCallCount[] {
  const completed = countsByTenant(database);
  const others = completed.size > 1 ? othersByTenant(database) : othersOf(database, [...completed.keys()][0]);
  for (const { tenant, calls } of others) completed.set(tenant, (completed.get(tenant) ?? 0) - calls);
  const ended = others.filter(({ state }) => isTerminal(state));
  for (const [tenant, calls] of completed) if (calls > 0) ended.push({ tenant, state: 'COMPLETED', calls });
  return ended;
}

/** Counts calls in any state. Calls that are indexed by run are counted in that table, whose rows are short. */
function countsByTenant(database: DatabaseSync): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (sql: string): void => {
    for (const row of database.prepare(sql).all()) {
      const tenant = text(row, 'tenant');
      counts.set(tenant, (counts.get(tenant) ?? 0) + integer(row, 'calls'));
    }
  };
  const first = database.prepare('select tenant from calls limit 1').get();
  if (first === undefined) return counts;
  const unindexed = 'from calls where no > (select no from calls_of_runs_end)';
  const tenant = text(first, 'tenant');
  const other = database
    .prepare(
      `select 1 from calls_of_runs where tenant <> ?1 union all select 1 ${unindexed} and tenant <> ?1 limit 1`,
    )
    .get(tenant);
  if (other === undefined) {
    const all = database.prepare('select count(*) as calls from calls').get();
    if (all !== undefined) counts.set(tenant, integer(all, 'calls'));
    return counts;
  }
  add('select tenant, count(*) as calls from calls_of_runs group by tenant');
  add(`select tenant, count(*) as calls ${unindexed} group by tenant`);
  return counts;
}

function othersOf(database: DatabaseSync, tenant = ''): EndedCallCount[] {
  const rows = database.prepare('select state, count(*) as calls from calls where state <> 4 group by state');
  return rows.all().map((row) => {
    return { tenant, state: stateNameOf(integer(row, 'state')), calls: integer(row, 'calls') };
  });
}

function othersByTenant(database: DatabaseSync): EndedCallCount[] {
  const rows = database.prepare(
    'select tenant, state, count(*) as calls from calls where state <> 4 group by tenant, state',
  );
  return rows.all().map((row) => {
    const state = stateNameOf(integer(row, 'state'));
    return { tenant: text(row, 'tenant'), state, calls: integer(row, 'calls') };
  });
}
