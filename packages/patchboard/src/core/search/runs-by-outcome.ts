import { CALL_STATES, isTerminal, type RunOutcomeName } from '@patchboard/wire';
import type { Run, RunFilter, Store } from '../ports.ts';
import type { RunTotals } from './call-search.ts';
import { indexHasReached } from './index-progress.ts';
import {
  openByRun,
  runCalls,
  runOutcome,
  type OpenOfRuns,
  type RunCalls,
  type RunCallsParts,
} from './run-calls.ts';

export interface RunsByOutcomeParts extends RunCallsParts {
  readonly store: RunCallsParts['store'] & Pick<Store, 'listRuns'>;
}

export interface RunsByOutcomeRequest {
  readonly filter: RunFilter;
  readonly outcome: RunOutcomeName;
  readonly cursor: string | null;
  readonly limit: number;
}

/** A run with the counts of its calls; null if the index cannot be read. */
interface CountedRun {
  readonly run: Run;
  readonly calls: RunCalls | null;
}

export interface RunListPage {
  /** May be fewer than the limit, or none, although there are more: see `SCANNED_RUNS`. */
  readonly items: readonly CountedRun[];
  readonly nextCursor: string | null;
  /** False: calls that ended a moment ago may be missing. */
  readonly isComplete: boolean;
}

/** Runs that one request counts, unless it is known which can match; the next page continues there. */
export const SCANNED_RUNS = 20_000;
/** Runs that are counted together. */
const LARGEST_WINDOW = 2000;
/** Up to this many ended calls are read to find the runs that can match. With more of them a scan finds some soon. */
const FEW_CALLS = 4000;

const FAILED_STATES = CALL_STATES.filter((state) => isTerminal(state) && state !== 'COMPLETED');

/**
 * Lists runs by outcome, newest first. An outcome is not stored, because it changes with each call of the run: the runs that can
 * have it are counted, from the newest on. Open calls are read first: one that ends meanwhile is counted twice, not missed.
 */
export async function runsByOutcome(
  parts: RunsByOutcomeParts,
  { filter, outcome, cursor, limit }: RunsByOutcomeRequest,
): Promise<RunListPage> {
  const open = await openByRun(parts, filter.tenant, null);
  const isComplete = await indexHasReached(parts);
  const narrowed = await narrowedFilter(parts, filter, outcome, open);
  const items: CountedRun[] = [];
  let from = cursor;
  let scanned = 0;
  for (let size = limit; ; size = Math.min(size * 4, LARGEST_WINDOW)) {
    const page = await parts.store.listRuns(narrowed, from, size);
    const ended = await totalsOf(parts, filter.tenant, page.items);
    for (const run of page.items) {
      const calls = runCalls(open.get(run.id) ?? {}, ended.get(run.id));
      if (runOutcome(run, calls) !== outcome) continue;
      items.push({ run, calls });
      if (items.length === limit) {
        const isLast = run === page.items.at(-1) && page.nextCursor === null;
        return { items, nextCursor: isLast ? null : run.cursor, isComplete };
      }
    }
    scanned += page.items.length;
    if (page.nextCursor === null || scanned >= SCANNED_RUNS)
      return { items, nextCursor: page.nextCursor, isComplete };
    from = page.nextCursor;
  }
}

/** Selects the runs that can have the outcome, as far as that is known without counting. */
async function narrowedFilter(
  { store }: RunsByOutcomeParts,
  filter: RunFilter,
  outcome: RunOutcomeName,
  open: OpenOfRuns,
): Promise<RunFilter> {
  switch (outcome) {
    case 'running':
      return { ...filter, ids: [...open.keys()] };
    case 'cancelled':
      return { ...filter, isCancelled: true };
    case 'empty':
      return filter;
    case 'completed':
    case 'failed': {
      const states = outcome === 'failed' ? FAILED_STATES : (['COMPLETED'] as const);
      const ids = (await store.search?.runsWithCalls(filter.tenant, states, FEW_CALLS)) ?? null;
      return ids === null ? filter : { ...filter, ids };
    }
  }
}

async function totalsOf(
  { store }: RunsByOutcomeParts,
  tenant: string,
  runs: readonly Run[],
): Promise<ReadonlyMap<string, RunTotals>> {
  if (runs.length === 0) return new Map();
  const ids = runs.map(({ id }) => id);
  return (await store.search?.runTotals(tenant, ids)) ?? new Map();
}
