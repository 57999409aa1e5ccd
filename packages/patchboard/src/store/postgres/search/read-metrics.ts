import type { LargestSeries, MetricCell, MetricsCriteria } from '../../../core/search/call-search.ts';
import { storedRanges } from '../../../core/search/metric-groups.ts';
import { seriesOf } from '../../../core/search/metric-series.ts';
import type { Queryable } from '../../../postgres/connection.ts';
import type { Tables } from '../schema.ts';
import { Conditions } from './criteria-sql.ts';
import { CALLS_BUCKET, durationsOf, outcomeOf } from './metric-columns.ts';

interface CellRow {
  readonly at: number;
  readonly key: string;
  readonly outcome: number;
  readonly code: string;
  readonly buckets: readonly number[];
  /** Numbers of 64 bits in an array come as text. */
  readonly counts: readonly string[];
  /** Number of all keys, also of those that are left out. */
  readonly keys: number;
}

/** What a group is named by; an outcome by its code. */
const KEYS: Readonly<Record<NonNullable<MetricsCriteria['by']>, string>> = {
  tool: 'tool_name',
  agent: 'agent_id',
  outcome: 'outcome::text',
  code: 'code',
};

/** Adds up the stored metrics in the database, so that only the largest series leave it. */
export async function readMetrics(
  queryable: Queryable,
  tables: Tables,
  criteria: MetricsCriteria,
  limit: number,
): Promise<LargestSeries> {
  const { tenant, agentId, tools, agents, stepMs, by } = criteria;
  const conditions = new Conditions(tables);
  const step = conditions.parameter('int8', stepMs);
  conditions.add(`(${rangesText(conditions, criteria)})`);
  conditions.equals('tenant', tenant ?? undefined);
  conditions.equals('agent_id', agentId);
  conditions.names('tool_name', 'tool', tools, tenant);
  conditions.names('agent_id', 'agent', agents, tenant);
  const key = by === null ? `''::text` : KEYS[by];
  const text = `with s as materialized (
      select at / ${step} * ${step} as at, ${key} as key, outcome, code, bucket, sum(count) as count
      from ${tables.call_metrics}, unnest(buckets, counts) as h (bucket, count) where ${conditions.text}
      group by 1, 2, outcome, code, bucket),
    k as materialized (select key, sum(count) as calls from s where bucket = ${CALLS_BUCKET} group by key),
    largest as (select key from k order by calls desc, key limit ${conditions.parameter('int8', limit)})
    select at, key, outcome, code, array_agg(bucket) as buckets, array_agg(count) as counts, (select count(*) from k) as keys
    from s join largest using (key) group by at, key, outcome, code`;
  const { rows } = await queryable.query<CellRow>({ name: 'read_metrics', text }, conditions.values);
  const { series } = seriesOf(
    rows.map((row) => cellOf(row, by)),
    limit,
  );
  return { series, more: (rows[0]?.keys ?? 0) - series.length };
}

function rangesText(conditions: Conditions, criteria: MetricsCriteria): string {
  const number = (value: number): string => conditions.parameter('int8', value);
  const ranges = storedRanges(criteria).map(
    ({ widthMs, since, until }) =>
      `width_ms = ${number(widthMs)} and at >= ${number(since)} and at < ${number(until)}`,
  );
  return ranges.join(' or ');
}

function cellOf(row: CellRow, by: MetricsCriteria['by']): MetricCell {
  const outcome = outcomeOf(row.outcome);
  return {
    at: row.at,
    key: by === 'outcome' ? outcome : row.key,
    outcome,
    code: row.code === '' ? null : row.code,
    ...durationsOf({ buckets: row.buckets, counts: row.counts.map(Number) }),
  };
}
