import type { CallCriteria, CallSort, FoundCall } from '../../../core/search/call-search.ts';
import type { Queryable } from '../../../postgres/connection.ts';
import type { Tables } from '../schema.ts';
import { addCallCriteria, Conditions } from './criteria-sql.ts';

/** Rows that are read in order of time before all rows are searched. */
const WINDOW = 4000;

const VALUES: Readonly<Record<CallSort['by'], string>> = {
  created: 'created_at',
  waited: 'waited_ms',
  ran: 'ran_ms',
  total: 'waited_ms + ran_ms',
};

export interface FindCalls {
  readonly criteria: CallCriteria;
  readonly sort: CallSort;
  readonly after: FoundCall | null;
  readonly limit: number;
}

interface WindowRow extends FoundCall {
  /** False: the last row of a full window. */
  readonly matches: boolean;
}

/** SQL of calls that are not forgotten. */
export function isKept({ index_state: state }: Tables, endedAt: 'ended_at' | 'at'): string {
  return `${endedAt} >= coalesce((select forgotten from ${state} where one = 1), 0)`;
}

/**
 * Finds calls in two steps, so that the cost does not depend on what the planner expects of the criteria. The newest (or
 * oldest) rows are read in order of time, which is enough where many match. Otherwise few match, and every row is compared, or
 * those that an index of words, runs, traces or parents selects.
 */
export async function findCalls(
  queryable: Queryable,
  tables: Tables,
  given: FindCalls,
): Promise<readonly FoundCall[]> {
  if (given.criteria.states?.length === 0) return [];
  const window = hasOwnIndex(given) ? null : await findInWindow(queryable, tables, given);
  if (window === null) return await findInAll(queryable, tables, given);
  const end = window.find(({ matches }) => !matches);
  const found = window.filter(({ matches }) => matches).map(({ id, value }) => ({ id, value }));
  if (end === undefined || found.length >= given.limit) return found;
  const rest = { ...given, after: { id: end.id, value: end.value }, limit: given.limit - found.length };
  return [...found, ...(await findInAll(queryable, tables, rest))];
}

function hasOwnIndex({ criteria, sort }: FindCalls): boolean {
  const { runId, traceId, parentCallId } = criteria;
  return sort.by !== 'created' || (runId ?? traceId ?? parentCallId) !== undefined;
}

async function findInWindow(queryable: Queryable, tables: Tables, given: FindCalls): Promise<WindowRow[]> {
  const { criteria, sort, limit } = given;
  const range = new Conditions(tables);
  addPlace(range, tables, given);
  const window = range.text;
  // The parameters of both parts are numbered together.
  const matching = new Conditions(tables);
  matching.values.push(...range.values);
  addCallCriteria(matching, criteria);
  const order = sort.isAscending ? 'asc' : 'desc';
  const opposite = sort.isAscending ? 'desc' : 'asc';
  const text = `with w as materialized (
      select * from ${tables.indexed_calls} where ${window} order by created_at ${order}, id ${order} limit ${WINDOW})
    (select id, created_at as value, true as matches from w where ${matching.text}
      order by created_at ${order}, id ${order} limit ${matching.parameter('int8', limit)})
    union all
    (select id, created_at, false from w where (select count(*) from w) = ${WINDOW}
      order by created_at ${opposite}, id ${opposite} limit 1)`;
  return [...(await queryable.query<WindowRow>({ name: 'find_calls', text }, matching.values)).rows];
}

async function findInAll(
  queryable: Queryable,
  tables: Tables,
  given: FindCalls,
): Promise<readonly FoundCall[]> {
  const { criteria, sort, limit } = given;
  const order = sort.isAscending ? 'asc' : 'desc';
  const conditions = new Conditions(tables);
  addPlace(conditions, tables, given);
  addCallCriteria(conditions, criteria);
  // `+ 0` keeps the planner from reading all rows in the order of the index by time, which is slower.
  const text = `select id, (${VALUES[sort.by]}) + 0 as value from ${tables.indexed_calls} where ${conditions.text}
    order by value ${order}, id ${order} limit ${conditions.parameter('int8', limit)}`;
  return (await queryable.query<FoundCall>({ name: 'find_all_calls', text }, conditions.values)).rows;
}

/** Adds the tenant, the time, and the page. */
function addPlace(conditions: Conditions, tables: Tables, { criteria, sort, after }: FindCalls): void {
  const { tenant, since, until } = criteria;
  conditions.equals('tenant', tenant);
  conditions.add(isKept(tables, 'ended_at'));
  conditions.inRange('created_at', {
    ...(since === undefined ? {} : { atLeast: since }),
    ...(until === undefined ? {} : { below: until }),
  });
  if (after === null) return;
  const value = conditions.parameter('int8', after.value);
  const id = conditions.parameter('text', after.id);
  const by = VALUES[sort.by];
  const direction = sort.isAscending ? '>' : '<';
  // The first condition is one that an index on the value alone can use.
  conditions.add(`${by} ${direction}= ${value}`);
  conditions.add(`(${by}, id) ${direction} (${value}, ${id})`);
}
