import { pairKey } from '../../core/pair-key.ts';
import type { ListedRun, Page, Run, RunFilter } from '../../core/ports.ts';
import { runCursor } from '../cursors.ts';

interface KeptRun {
  run: Run;
  /** Number of its kept calls. */
  calls: number;
  /** Position among all runs ever added, so that cursors stay valid when runs are dropped. */
  readonly position: number;
}

/** Runs by tenant and id, in order of arrival. A run is dropped with its last call. */
export class MemoryRuns {
  /** Maximum number of runs without calls; the oldest are dropped. */
  readonly #retain: number;
  readonly #runs: Map<string, KeptRun> = new Map();
  readonly #withoutCalls: Set<string> = new Set();
  #lastPosition = 0;

  constructor(retain: number) {
    this.#retain = retain;
  }

  find(tenant: string, id: string): Run | undefined {
    return this.#runs.get(pairKey(tenant, id))?.run;
  }

  /** Counts a new call of the run, and creates a missing run. Returns the existing run if it refuses the call, otherwise null. */
  addCall(run: Run): Run | null {
    const key = pairKey(run.tenant, run.id);
    const existing = this.#runs.get(key);
    if (existing === undefined) {
      this.#add(key, run, 1);
      return null;
    }
    if (existing.run.agentId !== run.agentId || existing.run.cancelledAt !== null) return existing.run;
    if (existing.calls === 0) this.#withoutCalls.delete(key);
    existing.calls += 1;
    return null;
  }

  /** Counts a dropped call of the run. */
  removeCall(tenant: string, id: string): void {
    const key = pairKey(tenant, id);
    const existing = this.#runs.get(key);
    if (existing === undefined) return;
    existing.calls -= 1;
    if (existing.calls === 0) this.#runs.delete(key);
  }

  /** Adds a run without calls. */
  add(run: Run): void {
    const key = pairKey(run.tenant, run.id);
    this.#add(key, run, 0);
    this.#withoutCalls.add(key);
    if (this.#withoutCalls.size <= this.#retain) return;
    const [oldest = ''] = this.#withoutCalls;
    this.#withoutCalls.delete(oldest);
    this.#runs.delete(oldest);
  }

  /** Returns false if there is no such run, or if it was cancelled before. */
  cancel(tenant: string, id: string, at: number): boolean {
    const existing = this.#runs.get(pairKey(tenant, id));
    if (existing === undefined || existing.run.cancelledAt !== null) return false;
    existing.run = { ...existing.run, cancelledAt: at };
    return true;
  }

  page(filter: RunFilter, cursor: string | null, limit: number): Page<ListedRun> {
    const before = cursor === null ? Infinity : runCursor(cursor);
    const ids = filter.ids === undefined ? null : new Set(filter.ids);
    const found = [...this.#runs.values()]
      .filter(
        ({ run, position }) =>
          position < before && (ids === null || ids.has(run.id)) && matchesRun(run, filter),
      )
      .reverse();
    const items = found.slice(0, limit).map(({ run, position }) => ({ ...run, cursor: String(position) }));
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.cursor ?? null) : null };
  }

  #add(key: string, run: Run, calls: number): void {
    this.#lastPosition += 1;
    this.#runs.set(key, { run, calls, position: this.#lastPosition });
  }
}

function matchesRun(run: Run, filter: Omit<RunFilter, 'ids'>): boolean {
  const { tenant, agentId, isCancelled = false, since = -Infinity, until = Infinity } = filter;
  return (
    run.tenant === tenant &&
    (!isCancelled || run.cancelledAt !== null) &&
    (agentId === undefined || run.agentId === agentId) &&
    run.createdAt >= since &&
    run.createdAt < until
  );
}
