import { pairKey } from '../../core/pair-key.ts';
import type { Page, Run } from '../../core/ports.ts';
import { runCursor } from '../cursors.ts';

interface KeptRun {
  run: Run;
  /** How many of its calls are kept. */
  calls: number;
  /** Among all runs that ever were: cursors stay good when others are dropped. */
  readonly position: number;
}

/** Runs by tenant and id, in order of arrival. A run is dropped with the last of its calls. */
export class MemoryRuns {
  /** How many runs without calls are kept: those that were made last. */
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

  /** A call of this run is stored: the run is made if there is none. Null: the call may join; else the run that stands. */
  join(run: Run): Run | null {
    const key = pairKey(run.tenant, run.id);
    const standing = this.#runs.get(key);
    if (standing === undefined) {
      this.#add(key, run, 1);
      return null;
    }
    if (standing.run.agentId !== run.agentId || standing.run.cancelledAt !== null) return standing.run;
    if (standing.calls === 0) this.#withoutCalls.delete(key);
    standing.calls += 1;
    return null;
  }

  /** A call of this run is dropped. */
  leave(tenant: string, id: string): void {
    const key = pairKey(tenant, id);
    const standing = this.#runs.get(key);
    if (standing === undefined) return;
    standing.calls -= 1;
    if (standing.calls === 0) this.#runs.delete(key);
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

  /** False: there is no such run, or it was cancelled before. */
  cancel(tenant: string, id: string, at: number): boolean {
    const standing = this.#runs.get(pairKey(tenant, id));
    if (standing === undefined || standing.run.cancelledAt !== null) return false;
    standing.run = { ...standing.run, cancelledAt: at };
    return true;
  }

  page(tenant: string, agentId: string | null, cursor: string | null, limit: number): Page<Run> {
    const before = cursor === null ? Infinity : runCursor(cursor);
    const found = [...this.#runs.values()]
      .filter(({ run, position }) => position < before && run.tenant === tenant)
      .filter(({ run }) => agentId === null || run.agentId === agentId)
      .reverse();
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(({ run }) => run),
      nextCursor: found.length > limit && last !== undefined ? String(last.position) : null,
    };
  }

  #add(key: string, run: Run, calls: number): void {
    this.#lastPosition += 1;
    this.#runs.set(key, { run, calls, position: this.#lastPosition });
  }
}
