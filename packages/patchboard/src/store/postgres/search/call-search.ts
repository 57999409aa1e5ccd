import type { CallStateName } from '@patchboard/wire';
import type {
  CallCriteria,
  CallSearch,
  CallSort,
  FoundCall,
  IndexedRefusal,
  LargestSeries,
  MetricsCriteria,
  RefusalCriteria,
  RunTotals,
} from '../../../core/search/call-search.ts';
import { int4Array, textArray } from '../../../postgres/arrays.ts';
import type { Queryable } from '../../../postgres/connection.ts';
import { STATE_CODES, stateNameOf } from '../../state-codes.ts';
import type { Tables } from '../schema.ts';
import { addRefusalCriteria, Conditions } from './criteria-sql.ts';
import { findCalls, isKept } from './find-calls.ts';
import { readMetrics } from './read-metrics.ts';

interface RunRow {
  readonly run_id: string;
  readonly state: number;
  readonly calls: number;
  readonly ended_at: number;
}

interface RefusalRow extends Pick<
  IndexedRefusal,
  'seq' | 'at' | 'tenant' | 'code' | 'message' | 'unrecorded'
> {
  readonly agent_id: string;
  readonly tool_name: string;
  readonly trace_id: string | null;
}

/** Reads the index of calls. Its statements are not prepared: the planner must see the values. */
export class PostgresCallSearch implements CallSearch {
  readonly #queryable: Queryable;
  readonly #tables: Tables;

  constructor(queryable: Queryable, tables: Tables) {
    this.#queryable = queryable;
    this.#tables = tables;
  }

  async position(): Promise<number> {
    const text = `select seq from ${this.#tables.index_state} where one = 1`;
    const { rows } = await this.#queryable.query<{ seq: number }>({ name: 'index_position', text });
    return rows[0]?.seq ?? 0;
  }

  async find(
    criteria: CallCriteria,
    sort: CallSort,
    after: FoundCall | null,
    limit: number,
  ): Promise<readonly FoundCall[]> {
    return await findCalls(this.#queryable, this.#tables, { criteria, sort, after, limit });
  }

  async refusals(
    criteria: RefusalCriteria,
    before: number | null,
    limit: number,
  ): Promise<readonly IndexedRefusal[]> {
    const conditions = new Conditions(this.#tables);
    addRefusalCriteria(conditions, criteria);
    conditions.add(isKept(this.#tables, 'at'));
    if (before !== null) conditions.add(`seq < ${conditions.parameter('int8', before)}`);
    const text = `select seq, at, tenant, agent_id, tool_name, code, message, trace_id, unrecorded
      from ${this.#tables.indexed_refusals} where ${conditions.text}
      order by seq desc limit ${conditions.parameter('int8', limit)}`;
    const { rows } = await this.#queryable.query<RefusalRow>(
      { name: 'find_refusals', text },
      conditions.values,
    );
    return rows.map(({ agent_id: agentId, tool_name: toolName, trace_id: traceId, ...rest }) => ({
      ...rest,
      agentId,
      toolName,
      traceId,
    }));
  }

  async metrics(criteria: MetricsCriteria, limit: number): Promise<LargestSeries> {
    return await readMetrics(this.#queryable, this.#tables, criteria, limit);
  }

  async runTotals(tenant: string, runIds: readonly string[]): Promise<ReadonlyMap<string, RunTotals>> {
    const text = `select run_id, state, count(*) as calls, max(ended_at) as ended_at from ${this.#tables.indexed_calls}
      where tenant = $1 and run_id = any($2::text[]) and ${isKept(this.#tables, 'ended_at')} group by run_id, state`;
    const values = [tenant, textArray(runIds)];
    const { rows } = await this.#queryable.query<RunRow>({ name: 'run_totals', text }, values);
    const totals = new Map<string, RunTotals>();
    for (const { run_id: runId, state, calls, ended_at: endedAt } of rows) {
      const { byState, lastEndedAt } = totals.get(runId) ?? { byState: {}, lastEndedAt: -Infinity };
      totals.set(runId, {
        byState: { ...byState, [stateNameOf(state)]: calls },
        lastEndedAt: Math.max(lastEndedAt, endedAt),
      });
    }
    return totals;
  }

  async runsWithCalls(
    tenant: string,
    states: readonly CallStateName[],
    limit: number,
  ): Promise<readonly string[] | null> {
    const text = `select run_id from ${this.#tables.indexed_calls}
      where tenant = $1 and state = any($2::int4[]) and ${isKept(this.#tables, 'ended_at')} limit $3`;
    const codes = int4Array(states.map((state) => STATE_CODES[state]));
    const values = [tenant, codes, limit + 1];
    const { rows } = await this.#queryable.query<{ run_id: string }>(
      { name: 'runs_with_calls', text },
      values,
    );
    return rows.length > limit ? null : [...new Set(rows.map(({ run_id: runId }) => runId))];
  }
}
