import type { OutcomeName } from '@patchboard/wire';
import type { IndexBatch, MetricCell, MetricsCriteria } from './call-search.ts';
import { HistogramSum, histogramOf, type Histogram } from './histogram.ts';
import { matchesNames } from './name-patterns.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Widths of the stored time buckets, and how long those of each width are kept. Each width divides the next one. */
export const METRIC_LEVELS: readonly { readonly widthMs: number; readonly keptMs: number }[] = [
  { widthMs: MINUTE_MS, keptMs: 2 * DAY_MS },
  { widthMs: 15 * MINUTE_MS, keptMs: 2 * DAY_MS },
  { widthMs: HOUR_MS, keptMs: 90 * DAY_MS },
  { widthMs: 6 * HOUR_MS, keptMs: 90 * DAY_MS },
];

/** Groups of one tenant in one time bucket. Names come from callers, so that their number must be bounded. */
export const GROUPS_PER_BUCKET = 300;

/** The tool, agent and code of all further groups. No tool, agent or code has this name, but a request for an unknown tool may. */
export const OTHER_NAME = '(other)';

/** Calls of one tenant that ended, or requests that were refused, in one time bucket. */
export interface MetricGroup {
  readonly at: number;
  readonly tenant: string;
  readonly toolName: string;
  readonly agentId: string;
  readonly outcome: OutcomeName;
  readonly code: string | null;
  readonly count: number;
  readonly waited: Histogram;
  /** Only calls that were executed. */
  readonly ran: Histogram;
}

type GroupNames = Pick<MetricGroup, 'toolName' | 'agentId' | 'code'>;

/** Returns the group that counts this one if its bucket has no room for it. */
export function otherGroup<Group extends GroupNames>(group: Group): Group {
  const code = group.code === null ? null : OTHER_NAME;
  return { ...group, toolName: OTHER_NAME, agentId: OTHER_NAME, code };
}

/** Whether it counts all further groups of its bucket. */
export function isOtherGroup({ toolName, agentId, code }: GroupNames): boolean {
  return toolName === OTHER_NAME && agentId === OTHER_NAME && (code === null || code === OTHER_NAME);
}

/** Stored buckets of one width that cover a part of the time. */
export interface StoredRange {
  readonly widthMs: number;
  readonly since: number;
  readonly until: number;
}

/** Returns the stored buckets to read: the widest of which `stepMs` is a multiple, and narrower ones before and after them. */
export function storedRanges({
  since,
  until,
  stepMs,
}: Pick<MetricsCriteria, 'since' | 'until' | 'stepMs'>): readonly StoredRange[] {
  const wide = widestOf([stepMs]);
  const from = Math.min(Math.ceil(since / wide) * wide, until);
  const to = Math.max(Math.floor(until / wide) * wide, from);
  const parts = [
    { since, until: from },
    { since: from, until: to },
    { since: to, until },
  ];
  return parts
    .filter((part) => part.since < part.until)
    .map((part) => ({ ...part, widthMs: widestOf([stepMs, part.since, part.until]) }));
}

/** The widest stored bucket that all of them are multiples of. */
function widestOf(multiples: readonly number[]): number {
  const isFit = ({ widthMs }: { readonly widthMs: number }): boolean =>
    multiples.every((ms) => ms % widthMs === 0);
  return METRIC_LEVELS.findLast(isFit)?.widthMs ?? MINUTE_MS;
}

interface Durations {
  readonly group: Omit<MetricGroup, 'count' | 'waited' | 'ran'>;
  count: number;
  readonly waitedMs: number[];
  readonly ranMs: number[];
}

/** Counts what a batch adds to buckets of this width. */
export function metricGroups(
  { calls, refusals }: Pick<IndexBatch, 'calls' | 'refusals'>,
  widthMs: number,
): readonly MetricGroup[] {
  const found = new Map<string, Durations>();
  const groupAt = (moment: number, names: Omit<Durations['group'], 'at'>): Durations => {
    const at = Math.floor(moment / widthMs) * widthMs;
    const { tenant, toolName, agentId, outcome, code } = names;
    const key = JSON.stringify([at, tenant, toolName, agentId, outcome, code]);
    const existing = found.get(key);
    if (existing !== undefined) return existing;
    const group = { at, tenant, toolName, agentId, outcome, code };
    const made: Durations = { group, count: 0, waitedMs: [], ranMs: [] };
    found.set(key, made);
    return made;
  };
  for (const call of calls) {
    const durations = groupAt(call.endedAt, { ...call, outcome: call.state });
    durations.count += 1;
    durations.waitedMs.push(call.waitedMs);
    if (call.hasRun) durations.ranMs.push(call.ranMs);
  }
  for (const refusal of refusals)
    groupAt(refusal.at, { ...refusal, outcome: 'REFUSED' }).count += 1 + refusal.unrecorded;
  return [...found.values()].map(({ group, count, waitedMs, ranMs }) => ({
    ...group,
    count,
    waited: histogramOf(waitedMs),
    ran: histogramOf(ranMs),
  }));
}

/** A group as a store has it: its histograms may be encoded. */
export interface StoredGroup extends Omit<MetricGroup, 'waited' | 'ran'> {
  readonly waited: Histogram | Uint8Array;
  readonly ran: Histogram | Uint8Array;
}

interface CellParts {
  readonly cell: Omit<MetricCell, 'count' | 'waited' | 'ran'>;
  count: number;
  readonly waited: HistogramSum;
  readonly ran: HistogramSum;
}

/** Adds up the groups that match, in steps of time, and by what the criteria group by. In order of time. */
export function metricCells(groups: Iterable<StoredGroup>, criteria: MetricsCriteria): readonly MetricCell[] {
  const found = new Map<string, CellParts>();
  for (const group of groups) {
    if (!matchesMetrics(group, criteria)) continue;
    const at = Math.floor(group.at / criteria.stepMs) * criteria.stepMs;
    const { outcome, code } = group;
    const cell = { at, key: keyOf(group, criteria), outcome, code };
    const name = `${at} ${outcome} ${JSON.stringify([code, cell.key])}`;
    let parts = found.get(name);
    if (parts === undefined) {
      parts = { cell, count: 0, waited: new HistogramSum(), ran: new HistogramSum() };
      found.set(name, parts);
    }
    parts.count += group.count;
    parts.waited.add(group.waited);
    parts.ran.add(group.ran);
  }
  return [...found.values()]
    .map(({ cell, count, waited, ran }) => ({
      ...cell,
      count,
      waited: waited.histogram,
      ran: ran.histogram,
    }))
    .sort((a, b) => a.at - b.at);
}

function matchesMetrics(group: StoredGroup, criteria: MetricsCriteria): boolean {
  const { tenant, agentId, tools, agents, since, until } = criteria;
  return (
    (tenant === null || group.tenant === tenant) &&
    (agentId === undefined || group.agentId === agentId) &&
    (tools === undefined || matchesNames(tools, group.toolName)) &&
    (agents === undefined || matchesNames(agents, group.agentId)) &&
    group.at >= since &&
    group.at < until
  );
}

function keyOf({ toolName, agentId, outcome, code }: StoredGroup, { by }: MetricsCriteria): string {
  switch (by) {
    case 'tool':
      return toolName;
    case 'agent':
      return agentId;
    case 'outcome':
      return outcome;
    case 'code':
      return code ?? '';
    case null:
      return '';
  }
}
