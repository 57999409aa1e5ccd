import type { CallStateName } from '../call-state.ts';

/** How a call ended, or `REFUSED`: the request was refused and made no call. */
export type OutcomeName = CallStateName | 'REFUSED';

/** What `GET /v1/call_metrics` groups by. */
export const METRIC_GROUPS = ['tool', 'agent', 'outcome', 'code'] as const;
export type MetricGroupName = (typeof METRIC_GROUPS)[number];

/** Percentiles in milliseconds; they are at most 5 % too high. */
export interface PercentilesView {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** One time bucket of a series. */
export interface MetricPointView {
  /** The start of the bucket, epoch seconds. */
  readonly at: number;
  readonly count: number;
  /** Calls that ended in another state than COMPLETED, and refused requests. */
  readonly failed: number;
  /** Null if no call of the bucket ran. */
  readonly ran_ms: PercentilesView | null;
  readonly waited_ms: PercentilesView | null;
}

export interface MetricSeriesView {
  /** The tool, agent, outcome or code; empty without `by`, and for calls that have no code. */
  readonly key: string;
  readonly count: number;
  readonly failed: number;
  readonly outcomes: Readonly<Partial<Record<OutcomeName, number>>>;
  readonly codes: Readonly<Record<string, number>>;
  readonly ran_ms: PercentilesView | null;
  readonly waited_ms: PercentilesView | null;
  /** In order of time. Buckets without calls are left out. */
  readonly points: readonly MetricPointView[];
}

/** `GET /v1/call_metrics`: the calls that ended, and the requests refused, from `since` to `until`. */
export interface CallMetricsView {
  /** Epoch seconds. */
  readonly since: number;
  readonly until: number;
  /** Width of a bucket in seconds. */
  readonly bucket_s: number;
  readonly by: MetricGroupName | null;
  /** False while the index is behind the store: counts of the newest calls are missing. */
  readonly complete: boolean;
  /** The largest first. */
  readonly series: readonly MetricSeriesView[];
  /** Number of further series that are left out. */
  readonly more: number;
}

/** One row of `GET /v1/refused_calls`: a request that was refused before a call was recorded. */
export interface RefusedCallView {
  /** Number of its row in the ledger. */
  readonly seq: number;
  readonly at: string;
  readonly agent_id: string;
  readonly tool_name: string;
  readonly code: string;
  readonly message: string;
  readonly trace_id: string | null;
}

/** `running`: a call of the run is open. `failed`: one ended in another state than COMPLETED. `empty`: it has no calls. */
export const RUN_OUTCOMES = ['running', 'completed', 'failed', 'cancelled', 'empty'] as const;
export type RunOutcomeName = (typeof RUN_OUTCOMES)[number];

/** Counts of the calls of a run. */
export interface RunCallsView {
  readonly total: number;
  readonly open: number;
  readonly failed: number;
  readonly by_state: Readonly<Partial<Record<CallStateName, number>>>;
  /** The end of its last ended call; null if none has ended. */
  readonly last_ended_at: string | null;
}
