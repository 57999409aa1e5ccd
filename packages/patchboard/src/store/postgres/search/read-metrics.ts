import type { MetricCell, MetricsCriteria } from '../../../core/search/call-search.ts';
import { widthFor } from '../../../core/search/metric-groups.ts';
import type { Queryable } from '../../../postgres/connection.ts';
import type { Tables } from '../schema.ts';
import { Conditions } from './criteria-sql.ts';
import { durationsOf, outcomeOf } from './metric-columns.ts';

interface CellRow {
  readonly at: number;
  readonly key: string;
  readonly outcome: number;
  readonly code: string;
  readonly buckets: readonly number[];
  /** Numbers of 64 bits in an array come as text. */
  readonly counts: readonly string[];
}

/** The column that a group is named by; the caller names an outcome. */
const KEYS: Readonly<Record<NonNullable<MetricsCriteria['by']>, string>> = {
  tool: 'tool_name',
  agent: 'agent_id',
  outcome: `''::text`,
  code: 'code',
};

/** Adds up the stored metrics in the database, so that only the result leaves it. In order of time. */
export async function readMetrics(
  queryable: Queryable,
  tables: Tables,
  criteria: MetricsCriteria,
): Promise<readonly MetricCell[]> {
  const { tenant, agentId, tools, agents, since, until, stepMs, by } = criteria;
  const conditions = new Conditions(tables);
  const step = conditions.parameter('int8', stepMs);
  conditions.add(`width_ms = ${conditions.parameter('int8', widthFor(stepMs))}`);
  conditions.inRange('at', { atLeast: since, below: until });
  conditions.equals('tenant', tenant ?? undefined);
  conditions.equals('agent_id', agentId);
  conditions.names('tool_name', 'tool', tools, tenant);
  conditions.names('agent_id', 'agent', agents, tenant);
  const key = by === null ? `''::text` : KEYS[by];
  const text = `select at, key, outcome, code, array_agg(bucket) as buckets, array_agg(count) as counts from (
      select at / ${step} * ${step} as at, ${key} as key, outcome, code, bucket, sum(count) as count
      from ${tables.call_metrics}, unnest(buckets, counts) as h (bucket, count) where ${conditions.text}
      group by 1, 2, outcome, code, bucket) s
    group by at, key, outcome, code order by at, key, outcome, code`;
  const { rows } = await queryable.query<CellRow>({ name: 'read_metrics', text }, conditions.values);
  return rows.map((row) => cellOf(row, by));
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
