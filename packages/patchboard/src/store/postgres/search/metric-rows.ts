import type { IndexBatch } from '../../../core/search/call-search.ts';
import { mergedHistogram } from '../../../core/search/histogram.ts';
import {
  GROUPS_PER_BUCKET,
  isOtherGroup,
  METRIC_LEVELS,
  metricGroups,
  otherGroup,
  type MetricGroup,
} from '../../../core/search/metric-groups.ts';
import { int8Array, textArray } from '../../../postgres/arrays.ts';
import type { Queryable, Statement } from '../../../postgres/connection.ts';
import type { Tables } from '../schema.ts';
import { outcomeOf } from './metric-columns.ts';

/** What a batch adds to one row of `call_metrics`. */
export interface MetricRow extends MetricGroup {
  readonly widthMs: number;
}

interface StoredGroup {
  readonly width_ms: number;
  readonly at: number;
  readonly tenant: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly outcome: number;
  readonly code: string;
}

/**
 * Counts batches per time bucket, and bounds the groups of a bucket. Knows the groups of the buckets of the last batch, so that they
 * are not read again; `forget` them whenever another process may have written.
 */
export class MetricBuckets {
  readonly #groupsOf: Statement;
  /** The groups of each bucket. */
  #known: ReadonlyMap<string, Set<string>> = new Map();

  constructor({ call_metrics: metrics }: Pick<Tables, 'call_metrics'>) {
    this.#groupsOf = {
      name: 'metric_groups',
      text: `select m.width_ms, m.at, m.tenant, m.tool_name, m.agent_id, m.outcome, m.code
        from unnest($1::int8[], $2::int8[], $3::text[]) as x (width_ms, at, tenant)
        join ${metrics} m on m.width_ms = x.width_ms and m.at = x.at and m.tenant = x.tenant`,
    };
  }

  forget(): void {
    this.#known = new Map();
  }

  /** Returns what the batch adds, in the order of the primary key. */
  async rowsOf(queryable: Queryable, batch: IndexBatch): Promise<readonly MetricRow[]> {
    // Each width divides the next one, so that the calls are counted once.
    const narrowest = metricGroups(batch, METRIC_LEVELS[0]?.widthMs ?? 0);
    const rows = METRIC_LEVELS.flatMap(({ widthMs }) =>
      narrowest.map((group) => ({ ...group, widthMs, at: Math.floor(group.at / widthMs) * widthMs })),
    );
    await this.#read(queryable, rows);
    const bounded = new Map<string, MetricRow>();
    for (const row of rows) {
      const own = this.#bounded(row);
      const key = `${bucketOf(own)} ${groupOf(own)}`;
      const before = bounded.get(key);
      bounded.set(key, before === undefined ? own : merged(before, own));
    }
    return [...bounded].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
  }

  #bounded(row: MetricRow): MetricRow {
    const groups = this.#known.get(bucketOf(row));
    if (groups === undefined || groups.has(groupOf(row))) return row;
    if (groups.size < GROUPS_PER_BUCKET) {
      groups.add(groupOf(row));
      return row;
    }
    return otherGroup(row);
  }

  /** Keeps the groups of the buckets of these rows, and no others. */
  async #read(queryable: Queryable, rows: readonly MetricRow[]): Promise<void> {
    const buckets = new Map(rows.map((row) => [bucketOf(row), row]));
    const unknown = [...buckets.entries()].filter(([key]) => !this.#known.has(key)).map(([, row]) => row);
    const known = new Map([...buckets.keys()].map((key) => [key, this.#known.get(key) ?? new Set<string>()]));
    if (unknown.length > 0) {
      const { rows: stored } = await queryable.query<StoredGroup>(this.#groupsOf, [
        int8Array(unknown.map(({ widthMs }) => widthMs)),
        int8Array(unknown.map(({ at }) => at)),
        textArray(unknown.map(({ tenant }) => tenant)),
      ]);
      for (const {
        width_ms: widthMs,
        at,
        tenant,
        tool_name: toolName,
        agent_id: agentId,
        ...rest
      } of stored) {
        const code = rest.code === '' ? null : rest.code;
        const names = { toolName, agentId, outcome: outcomeOf(rest.outcome), code };
        if (!isOtherGroup(names)) known.get(bucketOf({ widthMs, at, tenant }))?.add(groupOf(names));
      }
    }
    this.#known = known;
  }
}

function bucketOf({ widthMs, at, tenant }: Pick<MetricRow, 'widthMs' | 'at' | 'tenant'>): string {
  return `${widthMs} ${at} ${tenant}`;
}

function groupOf({
  toolName,
  agentId,
  outcome,
  code,
}: Omit<MetricGroup, 'at' | 'tenant' | 'count' | 'waited' | 'ran'>): string {
  return JSON.stringify([toolName, agentId, outcome, code ?? '']);
}

function merged(one: MetricRow, other: MetricRow): MetricRow {
  return {
    ...one,
    count: one.count + other.count,
    waited: mergedHistogram([one.waited, other.waited]),
    ran: mergedHistogram([one.ran, other.ran]),
  };
}
