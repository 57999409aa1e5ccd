import type {
  CallSortName,
  CallStateName,
  MetricGroupName,
  MetricSeriesView,
  MsRange,
  NamePatterns,
  OutcomeName,
} from '@patchboard/wire';
import type { CallFilter } from '../ports.ts';
import type { Histogram } from './histogram.ts';

/** Selects ended calls. Absent members match every call. */
export interface CallCriteria extends CallFilter {
  readonly tools?: NamePatterns;
  readonly agents?: NamePatterns;
  readonly codes?: NamePatterns;
  readonly traceId?: string;
  readonly parentCallId?: string;
  readonly clientId?: string;
  readonly waitedMs?: MsRange;
  readonly ranMs?: MsRange;
  readonly totalMs?: MsRange;
  /** Texts that the arguments contain, see `CallQuery.texts`. */
  readonly texts?: readonly string[];
}

export interface CallSort {
  readonly by: CallSortName;
  readonly isAscending: boolean;
}

/** A found call: its id, and what the list is sorted by (the creation time, or milliseconds). */
export interface FoundCall {
  readonly id: string;
  readonly value: number;
}

/** Selects refused requests. */
export interface RefusalCriteria {
  readonly tenant: string;
  readonly agentId?: string;
  readonly tools?: NamePatterns;
  readonly agents?: NamePatterns;
  readonly codes?: NamePatterns;
  readonly traceId?: string;
  readonly since?: number;
  readonly until?: number;
}

/** A request that was refused, as its ledger row has it. */
export interface IndexedRefusal {
  readonly seq: number;
  readonly at: number;
  readonly tenant: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly code: string;
  readonly message: string;
  readonly traceId: string | null;
  /** Number of earlier refusals of the same caller that have no row; metrics count them too. */
  readonly unrecorded: number;
}

export interface MetricsCriteria {
  /** Null: of all tenants. */
  readonly tenant: string | null;
  readonly agentId?: string;
  readonly tools?: NamePatterns;
  readonly agents?: NamePatterns;
  /** Epoch milliseconds, multiples of a minute; of an hour if `since` is older than the minutes that are kept. */
  readonly since: number;
  readonly until: number;
  /** Steps begin at its multiples, so that the first and the last may be cut. A multiple of a minute; of an hour if `since` is older than the minutes that are kept. */
  readonly stepMs: number;
  readonly by: MetricGroupName | null;
}

/** Calls that ended, or requests that were refused, in one step of time. */
export interface MetricCell {
  readonly at: number;
  /** The tool, agent, outcome or code; empty without `by`. */
  readonly key: string;
  readonly outcome: OutcomeName;
  readonly code: string | null;
  readonly count: number;
  readonly waited: Histogram;
  /** Only calls that were executed. */
  readonly ran: Histogram;
}

/** The largest series of counts, largest first. */
export interface LargestSeries {
  readonly series: readonly MetricSeriesView[];
  /** Number of further series. */
  readonly more: number;
}

/** The ended calls of a run. */
export interface RunTotals {
  readonly byState: Readonly<Partial<Record<CallStateName, number>>>;
  readonly lastEndedAt: number;
}

/**
 * Finds ended calls by what a list can be filtered and sorted by, and counts them. It is derived from the ledger and the
 * calls, soon after the commits: it may miss the newest calls, and may name calls that are no longer stored.
 */
export interface CallSearch {
  /** Sequence number of the newest ledger row that it contains. */
  position(): Promise<number>;
  /** Sorted; calls with the same value are sorted by id, in the same direction. `after`: the last call of the page before. */
  find(
    criteria: CallCriteria,
    sort: CallSort,
    after: FoundCall | null,
    limit: number,
  ): Promise<readonly FoundCall[]>;
  /** Newest first. `before`: only rows with a smaller sequence number. */
  refusals(
    criteria: RefusalCriteria,
    before: number | null,
    limit: number,
  ): Promise<readonly IndexedRefusal[]>;
  /** At most `limit` series, so that what an adapter returns is bounded, however many names there are. */
  metrics(criteria: MetricsCriteria, limit: number): Promise<LargestSeries>;
  /** Runs without ended calls are left out. */
  runTotals(tenant: string, runIds: readonly string[]): Promise<ReadonlyMap<string, RunTotals>>;
  /** The runs of the ended calls in these states; null if there are more than `limit` such calls. */
  runsWithCalls(
    tenant: string,
    states: readonly CallStateName[],
    limit: number,
  ): Promise<readonly string[] | null>;
}

/** An ended call as the index holds it. */
export interface IndexedCall {
  readonly id: string;
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  readonly clientId: string | null;
  readonly toolName: string;
  readonly state: CallStateName;
  readonly code: string | null;
  readonly traceId: string | null;
  readonly parentCallId: string | null;
  readonly createdAt: number;
  readonly endedAt: number;
  readonly waitedMs: number;
  readonly ranMs: number;
  /** Whether it was executed at all. */
  readonly hasRun: boolean;
  /** The stored arguments, after redaction, as JSON; cut at `INDEXED_CHARACTERS`. */
  readonly argsJson: string;
}

/** A ledger row: everything up to it is in the index. */
export interface IndexPosition {
  /** 0: the index is empty. */
  readonly seq: number;
  readonly hash: string;
}

/** What the rows after `from` up to `to` add to the index. */
export interface IndexBatch {
  readonly from: number;
  readonly to: IndexPosition;
  readonly calls: readonly IndexedCall[];
  readonly refusals: readonly IndexedRefusal[];
  /** Whether there were further rows when it was read. */
  readonly hasMore: boolean;
}

/** Writes the index of `CallSearch`. A batch is applied exactly once, with its position. */
export interface CallIndexWriter {
  /** Returns where to continue; null if another node has the lease: call it again later. */
  acquireLease(): Promise<IndexPosition | null>;
  /** Returns false, and changes nothing, if the position is not `from` or another node has the lease. */
  apply(batch: IndexBatch): Promise<boolean>;
  /** Removes everything: the store is not the one, or not as new as the one, that the index was made from. */
  clear(): Promise<void>;
  /** Removes calls and refusals that ended before, and metrics that are older than they are kept. */
  forget(before: number): Promise<void>;
  /** Gives the lease back. */
  release(): Promise<void>;
}

/** An index that is written until it is stopped. */
export interface RunningIndex {
  /** Ends a pause, because a request waits for the index. */
  hurry(): void;
  stop(): Promise<void>;
}
