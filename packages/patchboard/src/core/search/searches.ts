import type { CallQuery, MetricGroupName, RunOutcomeName } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import { onlyAgent } from '../call/visibility.ts';
import { messageOf } from '../failures.ts';
import type { Clock, Log, Run, RunFilter } from '../ports.ts';
import { CallLists, type CallListPage, type CallListRequest, type CallListsParts } from './call-lists.ts';
import type { IndexedRefusal, LargestSeries } from './call-search.ts';
import { indexHasReached } from './index-progress.ts';
import { METRIC_LEVELS } from './metric-groups.ts';
import { bucketsFor, type Buckets } from './metric-series.ts';
import { countRuns, type CountedRuns } from './run-calls.ts';
import { runsByOutcome, type RunListPage } from './runs-by-outcome.ts';

export interface SearchesParts extends Omit<CallListsParts, 'indexAwaited'> {
  readonly clock: Clock;
  readonly log: Log;
}

export interface RefusalPage {
  readonly items: readonly IndexedRefusal[];
  /** The sequence number after which the next page begins; null on the last page. */
  readonly next: number | null;
  readonly isComplete: boolean;
}

export interface MetricsRequest {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly until: number;
  readonly points: number;
  readonly by: MetricGroupName | null;
  /** Only its tools and agents are used. */
  readonly query: CallQuery;
}

export interface RunListRequest {
  readonly filter: Pick<RunFilter, 'agentId' | 'since' | 'until'>;
  /** Null: any. */
  readonly outcome: RunOutcomeName | null;
  readonly cursor: string | null;
  readonly limit: number;
}

export interface CallMetrics extends Buckets, LargestSeries {
  readonly isComplete: boolean;
}

/** Series of one response, and points of all of them. */
const MAX_SERIES = 100;
const MAX_POINTS = 2000;
const HOUR_MS = 3_600_000;

/** Finds calls and refused requests, and counts them. Everything is limited to what the principal may see. */
export class Searches {
  readonly #parts: SearchesParts & CallListsParts;
  readonly #lists: CallLists;
  readonly #listeners: Set<() => void> = new Set();

  constructor(parts: SearchesParts) {
    const indexAwaited = (): void => this.#listeners.forEach((listener) => listener());
    this.#parts = { ...parts, indexAwaited };
    this.#lists = new CallLists(this.#parts);
  }

  /** Calls `listener` while a request waits for the index. The returned function ends that. */
  onIndexAwaited(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async calls(principal: Principal, request: CallListRequest): Promise<CallListPage> {
    return await this.#lists.list(principal, request);
  }

  /** Lists refused requests, newest first: of the tenant, or only those of the agent itself. `before`: see `RefusalPage.next`. */
  async refusals(
    principal: Principal,
    { tools, agents, codes, traceId, since, until }: CallQuery,
    before: number | null,
    limit: number,
  ): Promise<RefusalPage> {
    const isComplete = await indexHasReached(this.#parts);
    const own = onlyAgent(principal);
    const criteria = {
      tenant: principal.tenant,
      ...(own === null ? {} : { agentId: own }),
      ...(tools === undefined ? {} : { tools }),
      ...(agents === undefined ? {} : { agents }),
      ...(codes === undefined ? {} : { codes }),
      ...(traceId === undefined ? {} : { traceId }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    };
    const found = (await this.#parts.store.search?.refusals(criteria, before, limit + 1)) ?? [];
    const items = found.slice(0, limit);
    return { items, next: found.length > limit ? (items.at(-1)?.seq ?? null) : null, isComplete };
  }

  /** Counts ended calls and refused requests in time buckets: of the tenant, or only those of the agent itself. */
  async metrics(principal: Principal, request: MetricsRequest): Promise<CallMetrics> {
    const { since, until, points, by, query } = request;
    const isComplete = await indexHasReached(this.#parts);
    const ageMs = this.#parts.clock.now() - since;
    const leastMs = METRIC_LEVELS.find(({ keptMs }) => ageMs <= keptMs)?.widthMs ?? HOUR_MS;
    const buckets = bucketsFor(since, until, points, leastMs);
    const own = onlyAgent(principal);
    const { tools, agents } = query;
    const criteria = {
      tenant: principal.tenant,
      ...(own === null ? {} : { agentId: own }),
      ...(tools === undefined ? {} : { tools }),
      ...(agents === undefined ? {} : { agents }),
      ...buckets,
      by,
    };
    const limit = Math.min(MAX_SERIES, Math.max(1, Math.floor(MAX_POINTS / points)));
    const found = (await this.#parts.store.search?.metrics(criteria, limit)) ?? { series: [], more: 0 };
    return { ...buckets, ...found, isComplete };
  }

  /** Lists the runs that match and that the principal may see, with counts of their calls, newest first. */
  async runs(principal: Principal, { outcome, ...request }: RunListRequest): Promise<RunListPage> {
    const own = onlyAgent(principal);
    const { tenant } = principal;
    const filter = { ...request.filter, ...(own === null ? {} : { agentId: own }), tenant };
    if (outcome !== null) return await runsByOutcome(this.#parts, { ...request, filter, outcome });
    const page = await this.#parts.store.listRuns(filter, request.cursor, request.limit);
    const { calls, isComplete } = await this.countRuns(principal, page.items);
    const items = page.items.map((run, index) => ({ run, calls: calls[index] ?? null }));
    return { items, nextCursor: page.nextCursor, isComplete };
  }

  /** Counts the calls of runs that the principal may see. Runs are listed without counts if the index cannot be read. */
  async countRuns({ tenant }: Principal, runs: readonly Run[]): Promise<CountedRuns> {
    try {
      return await countRuns(this.#parts, tenant, runs);
    } catch (error) {
      this.#parts.log.warn('search.counts_failed', { error: messageOf(error) });
      return { calls: [], isComplete: false };
    }
  }
}
