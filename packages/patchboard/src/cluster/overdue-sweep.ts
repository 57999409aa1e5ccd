import type { DatabaseClock } from './database-clock.ts';
import type { NodeTable } from './node-table.ts';
import type { TakenCalls } from './taken-calls.ts';
import { FULL_SWEEP_EVERY_MS, OVERDUE_MS, SWEEP_LIMIT, SWEEP_WINDOW_MS } from './timing.ts';

export interface OverdueSweepParts {
  readonly table: NodeTable;
  readonly clock: DatabaseClock;
  readonly taken: TakenCalls;
  readonly hasLease: () => boolean;
  readonly hasOthers: () => boolean;
  /** The writers whose heartbeat stands still, or that no node holds. */
  readonly silent: () => readonly number[];
}

/** Ends the overdue calls of other nodes: their owners would have ended them before. */
export class OverdueSweep {
  readonly #parts: OverdueSweepParts;
  #fullAt = -Infinity;

  constructor(parts: OverdueSweepParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { table, clock, taken, hasLease, hasOthers, silent } = this.#parts;
    if (!hasLease()) return;
    const isFull = clock.elapsed() - this.#fullAt >= FULL_SWEEP_EVERY_MS;
    if (!isFull && !hasOthers()) return;
    // After a step of the clock a deadline may only seem to be over: calls of nodes with a heartbeat are left to them.
    const owners = clock.isCautious ? silent() : null;
    if (owners?.length === 0) return;
    const before = clock.now() - OVERDUE_MS;
    const from = isFull ? 0 : before - SWEEP_WINDOW_MS;
    // All of them in one run: a node that is gone may have had thousands with the same deadline.
    for (let isMore = true; isMore && hasLease();) {
      const claimed = await table.claimOverdue(from, before, SWEEP_LIMIT, owners);
      await taken.passFromOthers(claimed);
      isMore = claimed.length === SWEEP_LIMIT;
      if (isFull && !isMore) this.#fullAt = clock.elapsed();
    }
  }
}
