import { int4Array, int8Array, textArray } from '../../postgres/arrays.ts';
import type { Queryable } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';

/** The number of ended calls of a tenant in a state. */
export interface EndedCount {
  readonly tenant: string;
  /** See `STATE_CODES`. */
  readonly state: number;
  readonly calls: number;
}

/** SQL of an insert that adds the counts of three array parameters, of which the first is `$first`. */
export function addToTotals({ totals }: Tables, first: number): string {
  // Sorted, so that two transactions never wait for each other.
  return `insert into ${totals} as t (tenant, state, calls)
    select tenant, state, sum(calls) from unnest($${first}::text[], $${first + 1}::int4[], $${first + 2}::int8[])
      as x (tenant, state, calls) group by tenant, state order by tenant collate "C", state
    on conflict (tenant, state) do update set calls = t.calls + excluded.calls`;
}

/** The three parameters of `addToTotals`. */
export function totalsValues(counts: readonly EndedCount[]): Buffer[] {
  return [
    textArray(counts.map(({ tenant }) => tenant)),
    int4Array(counts.map(({ state }) => state)),
    int8Array(counts.map(({ calls }) => calls)),
  ];
}

/** Subtracts deleted calls from the totals. */
export async function subtractFromTotals(
  transaction: Queryable,
  tables: Tables,
  counts: readonly EndedCount[],
): Promise<void> {
  const gone = counts.map((count) => ({ ...count, calls: -count.calls }));
  await transaction.query({ name: 'subtract_totals', text: addToTotals(tables, 1) }, totalsValues(gone));
}
