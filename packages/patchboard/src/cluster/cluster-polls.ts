import type { Announcements } from './announcements.ts';
import type { AttachedClients } from './attached-clients.ts';
import type { Bus } from './bus.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { EngineCallbacks } from './engine-callbacks.ts';
import type { FenceGuard } from './fence-guard.ts';
import type { NodeTable } from './node-table.ts';
import { OfferedCalls } from './offered-calls.ts';
import { OverdueSweep } from './overdue-sweep.ts';
import type { PendingOffers } from './pending-offers.ts';
import type { Reconciliation } from './reconciliation.ts';
import { Repeated } from '../core/repeated.ts';
import type { TakenCalls } from './taken-calls.ts';
import { COMPARE_EVERY_MS, POLL_EVERY_MS, SWEEP_EVERY_MS } from './timing.ts';

export interface ClusterPollsParts {
  readonly table: NodeTable;
  readonly bus: Pick<Bus, 'isConnected' | 'connections'>;
  readonly clock: DatabaseClock;
  readonly guard: FenceGuard;
  readonly engine: EngineCallbacks;
  readonly taken: TakenCalls;
  readonly clients: AttachedClients;
  readonly announcements: Announcements;
  readonly reconciliation: Reconciliation;
  readonly pendingOffers: PendingOffers;
  readonly hasLease: () => boolean;
  readonly isLeaving: () => boolean;
  readonly hasOthers: () => boolean;
  /** The writers whose heartbeat stands still. */
  readonly silent: () => readonly number[];
}

/** What a node repeats: what a lost notification would have caused, and what no notification is sent for. */
export class ClusterPolls {
  /** Marks the calls that other nodes may take. */
  readonly offering: Repeated;
  /** Takes calls that other nodes offer. */
  readonly takingOffered: Repeated;
  /** Takes calls that are this node's and that it does not hold. */
  readonly takingMissing: Repeated;
  readonly #all: readonly Repeated[];

  constructor(parts: ClusterPollsParts) {
    const { table, bus, clock, guard, engine, taken, clients, announcements } = parts;
    const { reconciliation, pendingOffers, hasLease, isLeaving, hasOthers, silent } = parts;
    const every = (ms: number, work: () => Promise<void>): Repeated =>
      new Repeated(clock, ms, () => guard.run(work));
    const whileOthers = (work: () => Promise<void>): Repeated =>
      every(POLL_EVERY_MS, async () => {
        if (hasOthers()) await work();
      });
    const sweep = new OverdueSweep({ table, clock, taken, hasLease, hasOthers, silent });
    const offered = new OfferedCalls({
      table,
      taken,
      room: (tenant) => engine.room(tenant),
      hasTool: (...tool) => engine.hasTool(...tool),
    });
    let comparedAfter = bus.connections;
    const compareAfterGaps = async (): Promise<void> => {
      const { isConnected, connections } = bus;
      if (isConnected && connections === comparedAfter) return;
      await reconciliation.compareHeld();
      comparedAfter = connections;
    };
    this.offering = every(POLL_EVERY_MS, () => pendingOffers.offer());
    this.takingOffered = whileOthers(async () => {
      if (hasLease() && !isLeaving()) await offered.take();
    });
    this.takingMissing = every(POLL_EVERY_MS, () => taken.passMissing(() => reconciliation.held()));
    this.#all = [
      this.offering,
      this.takingOffered,
      this.takingMissing,
      every(SWEEP_EVERY_MS, () => sweep.run()),
      whileOthers(() => reconciliation.compareMoved()),
      whileOthers(() => reconciliation.compareAwaited()),
      whileOthers(() => clients.poll()),
      every(POLL_EVERY_MS, () => announcements.catchUp()),
      every(POLL_EVERY_MS, compareAfterGaps),
      every(COMPARE_EVERY_MS, () => reconciliation.compareHeld()),
    ];
  }

  start(): void {
    for (const poll of this.#all) poll.start();
    // A takeover may have come between.
    this.takingMissing.now();
  }

  /** Resolves when none of them runs. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((poll) => poll.stop()));
  }
}
