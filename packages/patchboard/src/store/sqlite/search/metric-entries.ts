import type { NamePatterns, OutcomeName } from '@patchboard/wire';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { IndexBatch, MetricCell, MetricsCriteria } from '../../../core/search/call-search.ts';
import { encodeHistogram, HistogramSum, type Histogram } from '../../../core/search/histogram.ts';
import {
  GROUPS_PER_BUCKET,
  isOtherGroup,
  METRIC_LEVELS,
  metricCells,
  metricGroups,
  otherGroup,
  storedRanges,
  type MetricGroup,
  type StoredGroup,
} from '../../../core/search/metric-groups.ts';
import { matchesNames } from '../../../core/search/name-patterns.ts';
import { integer, text, type Row } from '../rows.ts';

/** The code of groups that have none. */
const NO_CODE = '';

/** Counts per time bucket, tenant, tool, agent, outcome and code, in every width of buckets. */
export class MetricEntries {
  readonly #find: StatementSync;
  readonly #count: StatementSync;
  readonly #put: StatementSync;
  readonly #removeBefore: StatementSync;
  readonly #tenants: StatementSync;
  readonly #inRange: StatementSync;
  readonly #toolsInRange: StatementSync;
  readonly #ofTools: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare(
      `select count, waited, ran from metrics
       where width = ? and tenant = ? and at = ? and tool = ? and agent = ? and outcome = ? and code = ?`,
    );
    this.#count = database.prepare(
      'select count(*) as entries from metrics where width = ? and tenant = ? and at = ?',
    );
    this.#put = database.prepare('insert or replace into metrics values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#removeBefore = database.prepare('delete from metrics where width = ? and at < ?');
    this.#tenants = database.prepare(
      `with recursive found (tenant) as (
         select min(tenant) from metrics where width = :width
         union all
         select (select min(tenant) from metrics where width = :width and tenant > found.tenant)
         from found where found.tenant is not null)
       select tenant from found where tenant is not null`,
    );
    const inRange = 'from metrics where width = ? and tenant = ? and at >= ? and at < ?';
    this.#inRange = database.prepare(`select * ${inRange} order by at`);
    this.#toolsInRange = database.prepare(`select distinct tool ${inRange}`);
    this.#ofTools = database.prepare(
      `select * ${inRange} and tool in (select value from json_each(?)) order by at`,
    );
  }

  add(batch: IndexBatch): void {
    for (const { widthMs } of METRIC_LEVELS) {
      const entries = new Map<string, number>();
      for (const group of metricGroups(batch, widthMs)) {
        const bucket = `${group.at} ${group.tenant}`;
        const known = entries.get(bucket) ?? this.#entriesOf(widthMs, group);
        entries.set(bucket, known + (this.#addGroup(widthMs, group, known) ? 1 : 0));
      }
    }
  }

  removeOld(now: number): void {
    for (const { widthMs, keptMs } of METRIC_LEVELS) this.#removeBefore.run(widthMs, now - keptMs - widthMs);
  }

  find(criteria: MetricsCriteria): readonly MetricCell[] {
    return metricCells(this.#groups(criteria), criteria);
  }

  *#groups(criteria: MetricsCriteria): Generator<StoredGroup> {
    const { tenant } = criteria;
    for (const { widthMs: width, since, until } of storedRanges(criteria)) {
      const tenants =
        tenant === null ? this.#tenants.all({ width }).map((row) => text(row, 'tenant')) : [tenant];
      for (const one of tenants)
        for (const row of this.#rows([width, one, since, until], criteria.tools)) yield toGroup(row);
    }
  }

  /** With tools, only their rows: to read a row here takes many times as long as to skip it in SQLite. */
  #rows(range: readonly [number, string, number, number], tools: NamePatterns | undefined): Iterable<Row> {
    if (tools === undefined) return this.#inRange.iterate(...range);
    const names = this.#toolsInRange.all(...range).map((row) => text(row, 'tool'));
    return this.#ofTools.iterate(...range, JSON.stringify(names.filter((name) => matchesNames(tools, name))));
  }

  #entriesOf(widthMs: number, { tenant, at }: MetricGroup): number {
    const row = this.#count.get(widthMs, tenant, at);
    return row === undefined ? 0 : integer(row, 'entries');
  }

  /** Returns whether it made a new group. */
  #addGroup(widthMs: number, group: MetricGroup, entries: number): boolean {
    const existing = this.#find.get(widthMs, ...keyOf(group));
    if (existing === undefined && entries >= GROUPS_PER_BUCKET && !isOtherGroup(group))
      return this.#addGroup(widthMs, otherGroup(group), entries);
    this.#put.run(
      widthMs,
      ...keyOf(group),
      group.count + (existing === undefined ? 0 : integer(existing, 'count')),
      merged(group.waited, existing?.['waited']),
      merged(group.ran, existing?.['ran']),
    );
    return existing === undefined;
  }
}

function keyOf({ tenant, at, toolName, agentId, outcome, code }: MetricGroup) {
  return [tenant, at, toolName, agentId, outcome, code ?? NO_CODE] as const;
}

function toGroup(row: Row): StoredGroup {
  const code = text(row, 'code');
  return {
    at: integer(row, 'at'),
    tenant: text(row, 'tenant'),
    toolName: text(row, 'tool'),
    agentId: text(row, 'agent'),
    outcome: text(row, 'outcome') as OutcomeName,
    code: code === NO_CODE ? null : code,
    count: integer(row, 'count'),
    waited: bytes(row['waited']),
    ran: bytes(row['ran']),
  };
}

function merged(added: Histogram, stored: SQLOutputValue | undefined): Uint8Array {
  if (stored === undefined) return encodeHistogram(added);
  const sum = new HistogramSum();
  sum.add(bytes(stored));
  sum.add(added);
  return encodeHistogram(sum.histogram);
}

function bytes(value: SQLOutputValue | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error('a column holds no histogram');
  return value;
}
