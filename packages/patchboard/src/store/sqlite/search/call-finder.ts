import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { CallCriteria, CallSort, FoundCall } from '../../../core/search/call-search.ts';
import { integer, text } from '../rows.ts';
import { callConditions, type CallConditions, type Sql } from './call-conditions.ts';
import type { NameTable } from './name-table.ts';

/** Up to this many calls are found by one criterion, then filtered and sorted. */
const FEW_CALLS = 20_000;
/** Calls that are filtered in the order of the list before the whole table is scanned. */
const WALKED_CALLS = 20_000;
/** The same if the text of each must be looked up by itself. */
const WALKED_TEXTS = 4000;

interface FindPage {
  readonly sort: CallSort;
  readonly after: FoundCall | null;
  readonly limit: number;
}

/**
 * Finds calls in one of three ways, of which each takes a bounded time: by a criterion that selects few calls; in the order
 * of the list, until the page is full; and by a scan of the table.
 */
export class CallFinder {
  readonly #database: DatabaseSync;
  readonly #names: NameTable;

  constructor(database: DatabaseSync, names: NameTable) {
    this.#database = database;
    this.#names = names;
  }

  find(criteria: CallCriteria, sort: CallSort, after: FoundCall | null, limit: number): readonly FoundCall[] {
    const conditions = callConditions(criteria, this.#names);
    if (conditions === null) return [];
    const page = { sort, after, limit };
    const few = this.#few(conditions);
    if (few !== null)
      return this.#select([{ sql: `n in (${few.sql})`, values: few.values }], conditions, page);
    const walked = this.#walk(conditions, criteria, page);
    return walked.length === limit ? walked : this.#select([], conditions, page);
  }

  /** Without `among`: scans the table. */
  #select(among: readonly Sql[], { all, match }: CallConditions, page: FindPage): FoundCall[] {
    const { sort, after, limit } = page;
    const where = [...among, ...all];
    if (match !== null)
      where.push({ sql: '+n in (select rowid from words where words match ?)', values: [match] });
    if (after !== null) where.push(afterSql(`+${sort.by}`, sort, after));
    const order = orderSql(`+${sort.by}`, sort);
    return this.#run(
      `select id, ${sort.by} as value from calls where ${joined(where)} order by ${order} limit ?`,
      [...valuesOf(where), limit],
    );
  }

  /** Filters the next calls in the order of the list. */
  #walk({ tenant, all, match }: CallConditions, { since, until }: CallCriteria, page: FindPage): FoundCall[] {
    const { sort, after, limit } = page;
    const range: Sql[] = [{ sql: 'tenant = ?', values: [tenant] }];
    if (sort.by === 'created' && since !== undefined) range.push({ sql: 'created >= ?', values: [since] });
    if (sort.by === 'created' && until !== undefined) range.push({ sql: 'created < ?', values: [until] });
    if (after !== null) range.push(afterSql(sort.by, sort, after));
    const where = [...all];
    let walked = WALKED_CALLS;
    if (match !== null && sort.by !== 'created') {
      walked = WALKED_TEXTS;
      where.push({ sql: 'exists (select 1 from words where words match ? and rowid = +n)', values: [match] });
    }
    // SQLite keeps the order of a subquery with a limit, and produces its rows on demand.
    const window = `select *, ${sort.by} as value from calls indexed by calls_${sort.by}
      where ${joined(range)} order by ${orderSql(sort.by, sort)} limit ${walked}`;
    if (match !== null && sort.by === 'created') {
      // The numbers of calls that were created one after the other are close to each other.
      const ends = this.#ends(window, range);
      if (ends === null) return [];
      const sql = '+n in (select rowid from words where words match ? and rowid between ? and ?)';
      where.push({ sql, values: [match, ...ends] });
    }
    const values = [...valuesOf(range), ...valuesOf(where), limit];
    return this.#run(`select id, value from (${window}) where ${joined(where)} limit ?`, values);
  }

  #ends(window: string, range: readonly Sql[]): readonly [number, number] | null {
    const ends = this.#database.prepare(`select min(n) as low, max(n) as high from (${window})`);
    const row = ends.get(...valuesOf(range));
    return row === undefined || row['low'] === null ? null : [integer(row, 'low'), integer(row, 'high')];
  }

  /** Returns how to select the calls of a criterion that selects few; null if none does. */
  #few({ narrowing }: CallConditions): Sql | null {
    const known = narrowing.filter(({ calls }) => calls !== undefined && calls <= FEW_CALLS);
    const [fewest] = known.sort((a, b) => (a.calls ?? 0) - (b.calls ?? 0));
    return fewest ?? narrowing.find((one) => one.calls === undefined && this.#selectsFew(one)) ?? null;
  }

  #selectsFew({ sql, values }: Sql): boolean {
    const counted = this.#database.prepare(`select count(*) as calls from (${sql} limit ${FEW_CALLS + 1})`);
    const row = counted.get(...values);
    return row !== undefined && integer(row, 'calls') <= FEW_CALLS;
  }

  #run(sql: string, values: readonly SQLInputValue[]): FoundCall[] {
    const rows = this.#database.prepare(sql).all(...values);
    return rows.map((row) => ({ id: text(row, 'id'), value: integer(row, 'value') }));
  }
}

function afterSql(column: string, { isAscending }: CallSort, { value, id }: FoundCall): Sql {
  return { sql: `(${column}, id) ${isAscending ? '>' : '<'} (?, ?)`, values: [value, id] };
}

function orderSql(column: string, { isAscending }: CallSort): string {
  const direction = isAscending ? 'asc' : 'desc';
  return `${column} ${direction}, id ${direction}`;
}

function joined(conditions: readonly Sql[]): string {
  return conditions.map(({ sql }) => sql).join(' and ');
}

function valuesOf(conditions: readonly Sql[]): SQLInputValue[] {
  return conditions.flatMap(({ values }) => values);
}
