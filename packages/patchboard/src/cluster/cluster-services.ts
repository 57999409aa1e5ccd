import type { Clock, Log, Store } from '../core/ports.ts';
import { Announcements } from './announcements.ts';
import { AttachedClients } from './attached-clients.ts';
import type { Bus } from './bus.ts';
import { ClusterHeartbeat } from './cluster-heartbeat.ts';
import { ClusterPolls } from './cluster-polls.ts';
import { CountedBus } from './counted-bus.ts';
import { DatabaseClock } from './database-clock.ts';
import { EngineCallbacks } from './engine-callbacks.ts';
import { FenceGuard } from './fence-guard.ts';
import type { NodeReport, NodeRow, NodeTable } from './node-table.ts';
import { Outbox } from './outbox.ts';
import { PendingOffers } from './pending-offers.ts';
import { received } from './received.ts';
import { Reconciliation } from './reconciliation.ts';
import type { SharedLedger } from './shared-ledger.ts';
import { Takeovers } from './takeovers.ts';
import { TakenCalls } from './taken-calls.ts';

export interface ClusterParts {
  readonly table: NodeTable;
  readonly bus: Bus;
  readonly ledger: SharedLedger;
  /** Monotonic time and timers of this process. */
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, 'onFenced'>;
  readonly version: string;
  /** How often other nodes have fenced this process before. Default: 0. */
  readonly fencedBefore?: number;
}

/** What the services need of the node that they belong to. */
interface ThisNode {
  readonly isLeaving: () => boolean;
  readonly report: () => NodeReport;
  /** Called after each heartbeat with all nodes, and with those that are dead. */
  readonly observed: (nodes: readonly NodeRow[], dead: readonly NodeRow[]) => void;
}

export interface ClusterServices {
  readonly bus: CountedBus;
  readonly clock: DatabaseClock;
  readonly guard: FenceGuard;
  readonly engine: EngineCallbacks;
  readonly heartbeat: ClusterHeartbeat;
  readonly outbox: Outbox;
  readonly taken: TakenCalls;
  readonly takeovers: Takeovers;
  readonly clients: AttachedClients;
  readonly announcements: Announcements;
  readonly reconciliation: Reconciliation;
  readonly pendingOffers: PendingOffers;
  readonly polls: ClusterPolls;
  readonly hasLease: () => boolean;
  /** Stops the heartbeat and all polls. */
  readonly stop: () => Promise<void>;
}

/** Makes and connects the parts of which a node consists. */
export function clusterServices(
  { table, log, ledger, ...parts }: ClusterParts,
  node: ThisNode,
): ClusterServices {
  const bus = new CountedBus(parts.bus);
  const [guard, engine] = [new FenceGuard(log), new EngineCallbacks()];
  const clock = new DatabaseClock(parts.clock, log);
  const heartbeat = new ClusterHeartbeat({
    table,
    clock,
    log,
    report: node.report,
    observed: node.observed,
    fenced: (problem) => guard.fence(problem),
  });
  const others = (): readonly NodeRow[] => heartbeat.others;
  const hasOthers = (): boolean => others().length > 0;
  const hasLease = (): boolean => !guard.isFenced && heartbeat.hasLease;
  const outbox = new Outbox({ bus, clock, others });
  const taken = new TakenCalls(table, bus);
  const takeovers = new Takeovers({ table, log, taken, mayTakeOver: () => hasLease() && !node.isLeaving() });
  const clients = new AttachedClients(table);
  const announcements = new Announcements({ bus, clock, others });
  const reconciliation = new Reconciliation({
    table,
    refresh: (id, version) => engine.refresh(id, version),
    watched: () => engine.watched(),
  });
  const pendingOffers = new PendingOffers({
    table,
    hasOthers,
    held: () => engine.watched().held,
    marked: () => outbox.send({ kind: 'work' }),
  });
  const own = { table, bus, clock, guard, engine, taken, clients, announcements };
  const polls = new ClusterPolls({
    ...own,
    reconciliation,
    pendingOffers,
    hasLease,
    isLeaving: node.isLeaving,
    hasOthers,
    silent: () => heartbeat.silent(),
  });
  const stop = async (): Promise<void> => {
    await Promise.all([heartbeat.stop(), polls.stop()]);
  };
  guard.onFenced(() => {
    stop().catch((error: unknown) => guard.failed(error));
  });
  parts.store.onFenced?.((problem) => guard.fence(problem));
  ledger.onCommitted(() => outbox.grown());
  const receivers = { engine, ledger, clients, announcements, polls, guard };
  bus.listen((notification, from) => received(receivers, notification, from));
  return {
    ...own,
    clock,
    heartbeat,
    outbox,
    takeovers,
    reconciliation,
    pendingOffers,
    polls,
    hasLease,
    stop,
  };
}
