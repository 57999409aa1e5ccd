import type { CallStateName, CallSortName } from '@patchboard/wire';
import type { Call } from '../../core/call/call.ts';
import type { LedgerRow } from '../../core/ledger/ledger.ts';
import type {
  CallCriteria,
  CallSearch,
  CallSort,
  FoundCall,
  IndexedCall,
  IndexedRefusal,
  LargestSeries,
  MetricsCriteria,
  RefusalCriteria,
  RunTotals,
} from '../../core/search/call-search.ts';
import { matchesCriteria, matchesRefusal } from '../../core/search/criteria.ts';
import { indexedCall, indexedRefusal } from '../../core/search/indexed-rows.ts';
import { metricCells, metricGroups } from '../../core/search/metric-groups.ts';
import { seriesOf } from '../../core/search/metric-series.ts';

/** The narrowest step of time that metrics have. */
const MINUTE_MS = 60_000;

/** What the search reads. It has no index: a store in memory keeps few calls, and a call must not pay for searches. */
export interface SearchedRows {
  calls(): Iterable<Call>;
  /** The rows of kind `call.refused`. */
  refusedRows(): Iterable<Omit<LedgerRow, 'hash'>>;
  readonly position: number;
}

/** Searches the calls and rows that a store in memory keeps. */
export class MemorySearch implements CallSearch {
  readonly #stored: SearchedRows;

  constructor(stored: SearchedRows) {
    this.#stored = stored;
  }

  async position(): Promise<number> {
    return this.#stored.position;
  }

  async find(
    criteria: CallCriteria,
    { by, isAscending }: CallSort,
    after: FoundCall | null,
    limit: number,
  ): Promise<readonly FoundCall[]> {
    const order = (a: FoundCall, b: FoundCall): number => (isAscending ? compare(a, b) : compare(b, a));
    const found: FoundCall[] = [];
    for (const call of this.#ended()) {
      const one = { id: call.id, value: valueOf(call, by) };
      if ((after === null || order(one, after) > 0) && matchesCriteria(call, criteria)) found.push(one);
    }
    return found.sort(order).slice(0, limit);
  }

  async refusals(
    criteria: RefusalCriteria,
    before: number | null,
    limit: number,
  ): Promise<readonly IndexedRefusal[]> {
    return this.#refusals()
      .filter((refusal) => refusal.seq < (before ?? Infinity) && matchesRefusal(refusal, criteria))
      .reverse()
      .slice(0, limit);
  }

  async metrics(criteria: MetricsCriteria, limit: number): Promise<LargestSeries> {
    const batch = { calls: [...this.#ended()], refusals: this.#refusals() };
    return seriesOf(metricCells(metricGroups(batch, MINUTE_MS), criteria), limit);
  }

  async runTotals(tenant: string, runIds: readonly string[]): Promise<ReadonlyMap<string, RunTotals>> {
    const wanted = new Set(runIds);
    const totals = new Map<
      string,
      { byState: Partial<Record<CallStateName, number>>; lastEndedAt: number }
    >();
    for (const call of this.#ended()) {
      if (call.tenant !== tenant || !wanted.has(call.runId)) continue;
      const { byState, lastEndedAt } = totals.get(call.runId) ?? { byState: {}, lastEndedAt: 0 };
      byState[call.state] = (byState[call.state] ?? 0) + 1;
      totals.set(call.runId, { byState, lastEndedAt: Math.max(lastEndedAt, call.endedAt) });
    }
    return totals;
  }

  async runsWithCalls(
    tenant: string,
    states: readonly CallStateName[],
    limit: number,
  ): Promise<readonly string[] | null> {
    const runs: string[] = [];
    for (const call of this.#ended())
      if (call.tenant === tenant && states.includes(call.state)) runs.push(call.runId);
    return runs.length > limit ? null : [...new Set(runs)];
  }

  *#ended(): Generator<IndexedCall> {
    for (const call of this.#stored.calls()) {
      const ended = indexedCall(call);
      if (ended !== null) yield ended;
    }
  }

  #refusals(): IndexedRefusal[] {
    const found: IndexedRefusal[] = [];
    for (const row of this.#stored.refusedRows()) {
      const refusal = indexedRefusal(row);
      if (refusal !== null) found.push(refusal);
    }
    return found;
  }
}

function valueOf(call: IndexedCall, by: CallSortName): number {
  switch (by) {
    case 'created':
      return call.createdAt;
    case 'waited':
      return call.waitedMs;
    case 'ran':
      return call.ranMs;
    case 'total':
      return call.waitedMs + call.ranMs;
  }
}

function compare(a: FoundCall, b: FoundCall): number {
  if (a.value !== b.value) return a.value - b.value;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
