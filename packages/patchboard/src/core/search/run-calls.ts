import { CALL_STATES, isTerminal, type CallStateName, type RunOutcomeName } from '@patchboard/wire';
import { isOpen, type Call } from '../call/call.ts';
import type { Run, Store } from '../ports.ts';
import type { RunTotals } from './call-search.ts';
import { indexHasReached, type IndexProgressParts } from './index-progress.ts';

type StateCounts = Readonly<Partial<Record<CallStateName, number>>>;

/** Number of open calls in each state, by run. Runs without open calls are left out. */
export type OpenOfRuns = ReadonlyMap<string, StateCounts>;

export interface OpenOfRunsParts {
  readonly store: Pick<Store, 'countOpenOfRuns'>;
  readonly lifecycle: { all(): readonly { readonly call: Call }[] };
}

export interface RunCallsParts extends IndexProgressParts, OpenOfRunsParts {
  readonly store: IndexProgressParts['store'] & OpenOfRunsParts['store'];
}

/** The calls of a run, counted. */
export interface RunCalls {
  readonly total: number;
  readonly open: number;
  /** Ended in another state than COMPLETED. */
  readonly failed: number;
  readonly byState: StateCounts;
  readonly lastEndedAt: number | null;
}

export interface CountedRuns {
  /** In the order of the runs; empty if the index cannot be read. */
  readonly calls: readonly RunCalls[];
  /** False: calls that ended a moment ago may be missing. */
  readonly isComplete: boolean;
}

/** Counts the calls of runs of one tenant. A call that ends meanwhile may be counted twice, but is not missed. */
export async function countRuns(
  parts: RunCallsParts,
  tenant: string,
  runs: readonly Run[],
): Promise<CountedRuns> {
  const ids = runs.map(({ id }) => id);
  if (ids.length === 0) return { calls: [], isComplete: true };
  const open = await openByRun(parts, tenant, ids);
  const isComplete = await indexHasReached(parts);
  const ended = (await parts.store.search?.runTotals(tenant, ids)) ?? new Map<string, RunTotals>();
  return { calls: ids.map((id) => runCalls(open.get(id) ?? {}, ended.get(id))), isComplete };
}

/** The open calls of the tenant by run; `ids`: only of these runs. */
export async function openByRun(
  { store, lifecycle }: OpenOfRunsParts,
  tenant: string,
  ids: readonly string[] | null,
): Promise<OpenOfRuns> {
  if (store.countOpenOfRuns !== undefined) return await store.countOpenOfRuns(tenant, ids);
  const wanted = ids === null ? null : new Set(ids);
  const byRun = new Map<string, Partial<Record<CallStateName, number>>>();
  for (const { call } of lifecycle.all()) {
    if (call.tenant !== tenant || !isOpen(call) || wanted?.has(call.runId) === false) continue;
    const counts = byRun.get(call.runId) ?? {};
    counts[call.state.name] = (counts[call.state.name] ?? 0) + 1;
    byRun.set(call.runId, counts);
  }
  return byRun;
}

export function runCalls(open: StateCounts, ended: RunTotals | undefined): RunCalls {
  const byState: Partial<Record<CallStateName, number>> = {};
  for (const state of CALL_STATES) {
    const count = (isTerminal(state) ? ended?.byState[state] : open[state]) ?? 0;
    if (count > 0) byState[state] = count;
  }
  const sum = (isCounted: (state: CallStateName) => boolean): number =>
    CALL_STATES.filter(isCounted).reduce((total, state) => total + (byState[state] ?? 0), 0);
  return {
    total: sum(() => true),
    open: sum((state) => !isTerminal(state)),
    failed: sum((state) => isTerminal(state) && state !== 'COMPLETED'),
    byState,
    lastEndedAt: ended?.lastEndedAt ?? null,
  };
}

/** Follows `RUN_OUTCOMES`: open calls come before everything else. */
export function runOutcome({ cancelledAt }: Run, { total, open, failed }: RunCalls): RunOutcomeName {
  if (open > 0) return 'running';
  if (cancelledAt !== null) return 'cancelled';
  if (total === 0) return 'empty';
  return failed > 0 ? 'failed' : 'completed';
}
