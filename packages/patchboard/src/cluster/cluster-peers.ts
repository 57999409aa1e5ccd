import type { Call } from '../core/call/call.ts';
import type { NodeMeasures, Nodes } from '../core/nodes.ts';
import type { Peers, TransientEvent, WatchedCalls, WorkspaceHome } from '../core/peers.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import type { RunScope } from '../core/workspaces.ts';
import { Announcements } from './announcements.ts';
import { AttachedClients, type Wake } from './attached-clients.ts';
import type { Bus } from './bus.ts';
import { ClusterHeartbeat } from './cluster-heartbeat.ts';
import { ClusterPolls } from './cluster-polls.ts';
import { CountedBus } from './counted-bus.ts';
import { DatabaseClock } from './database-clock.ts';
import { EngineCallbacks, type HasTool, type Room } from './engine-callbacks.ts';
import { FenceGuard } from './fence-guard.ts';
import { NodeChanges } from './node-changes.ts';
import { nodeList } from './node-list.ts';
import type { NodeReport, NodeRow, NodeTable } from './node-table.ts';
import { Outbox } from './outbox.ts';
import { PendingOffers } from './pending-offers.ts';
import { received } from './received.ts';
import { Reconciliation, type Look } from './reconciliation.ts';
import type { SharedLedger } from './shared-ledger.ts';
import { TakenCalls, type Take } from './taken-calls.ts';

export interface ClusterParts {
  readonly table: NodeTable;
  readonly bus: Bus;
  readonly ledger: SharedLedger;
  /** Monotonic time and timers of this process. */
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Pick<Store, 'onFenced'>;
  readonly version: string;
  /** Hash of configuration, packs and hooks; null until `setFingerprint`. */
  readonly fingerprint: string | null;
  /** How often other nodes have fenced this process before. Default: 0. */
  readonly fencedBefore?: number;
}

/** One of several nodes over one store. Everything that a lost notification would have told is found by polling. */
export class ClusterPeers implements Peers {
  readonly isSingle = false;
  /** The clock of the database. */
  readonly clock: DatabaseClock;
  readonly #parts: ClusterParts;
  readonly #bus: CountedBus;
  readonly #guard: FenceGuard;
  readonly #engine: EngineCallbacks = new EngineCallbacks();
  readonly #heartbeat: ClusterHeartbeat;
  readonly #outbox: Outbox;
  readonly #taken: TakenCalls;
  readonly #clients: AttachedClients;
  readonly #announcements: Announcements;
  readonly #reconciliation: Reconciliation;
  readonly #changes: NodeChanges;
  readonly #pendingOffers: PendingOffers;
  readonly #polls: ClusterPolls;
  /** The writers of the nodes that this one is taking over. */
  readonly #takingOver: Set<number> = new Set();
  #takeovers = 0;
  #callsTakenOver = 0;
  #state: NodeReport['state'] = 'held';
  #url: string | null = null;
  #fingerprint: string | null;

  constructor(parts: ClusterParts) {
    const { table, log, ledger } = parts;
    this.#parts = parts;
    const bus = new CountedBus(parts.bus);
    this.#bus = bus;
    const [guard, engine] = [new FenceGuard(log), this.#engine];
    this.#guard = guard;
    this.clock = new DatabaseClock(parts.clock, log);
    const { clock } = this;
    this.#heartbeat = new ClusterHeartbeat({
      table,
      clock,
      log,
      report: () => this.#report(),
      looked: (nodes, dead) => this.#looked(nodes, dead),
      fenced: (problem) => guard.fence(problem),
    });
    const others = (): readonly NodeRow[] => this.#heartbeat.others;
    const hasOthers = (): boolean => others().length > 0;
    const outbox = new Outbox({ bus, clock, others });
    this.#outbox = outbox;
    this.#fingerprint = parts.fingerprint;
    this.#changes = new NodeChanges(() => this.#fingerprint, log);
    const taken = new TakenCalls(table, bus);
    this.#taken = taken;
    const clients = new AttachedClients(table);
    this.#clients = clients;
    const announcements = new Announcements({ bus, clock, others });
    this.#announcements = announcements;
    const reconciliation = new Reconciliation({
      table,
      look: (id, version) => engine.look(id, version),
      watched: () => engine.watched(),
    });
    this.#reconciliation = reconciliation;
    const pendingOffers = new PendingOffers({
      table,
      hasOthers,
      held: () => engine.watched().held,
      marked: () => outbox.send({ kind: 'work' }),
    });
    this.#pendingOffers = pendingOffers;
    const own = { table, bus, clock, guard, engine, taken, clients, announcements };
    const polls = new ClusterPolls({
      ...own,
      reconciliation,
      pendingOffers,
      hasLease: () => this.hasLease(),
      isLeaving: () => this.isLeaving,
      hasOthers,
      silent: () => this.#heartbeat.silent(),
    });
    this.#polls = polls;
    guard.onFenced(() => {
      this.#stop().catch((error: unknown) => guard.failed(error));
    });
    parts.store.onFenced?.((problem) => guard.fence(problem));
    ledger.onCommitted(() => outbox.grown());
    const receivers = { engine, ledger, clients, announcements, polls, guard };
    bus.listen((notification, from) => received(receivers, notification, from));
  }

  /** Begins the heartbeat: until the first one the node has no lease, and its clock is that of the machine. */
  async start(): Promise<void> {
    await this.#heartbeat.start();
  }

  /** All nodes as the last heartbeat found them. */
  get nodes(): readonly NodeRow[] {
    return this.#heartbeat.nodes;
  }

  /** The nodes, for operators. */
  get list(): Nodes {
    return nodeList(this.#heartbeat, this.self, () => this.#measures());
  }

  get self(): number {
    return this.#parts.table.self.writer;
  }

  /** Whether another node could take calls and requests; false once this one is fenced. */
  get hasOthers(): boolean {
    return !this.#guard.isFenced && this.#heartbeat.others.length > 0;
  }

  get isLeaving(): boolean {
    return this.#state === 'leaving';
  }

  /** The address at which clients reach this node. */
  setUrl(url: string): void {
    this.#url = url;
    this.#heartbeat.now();
  }

  setFingerprint(fingerprint: string): void {
    this.#fingerprint = fingerprint;
    this.#heartbeat.now();
  }

  /** From now on other nodes give this one no calls. */
  leave(): void {
    this.#state = 'leaving';
    this.#heartbeat.now();
  }

  /** Stops the heartbeat and all polls. The store is closed afterwards, which frees the writer. */
  async close(): Promise<void> {
    await this.#stop();
    await this.#bus.close();
  }

  async onOrphaned(take: Take): Promise<void> {
    await this.#taken.begin(take);
    this.#polls.start();
  }

  moved({ id, version }: Call): void {
    this.#outbox.send({ kind: 'moved', calls: [[id, version]] });
  }

  ended({ id, version }: Call): void {
    this.#outbox.send({ kind: 'ended', calls: [[id, version]] });
  }

  onMoved(look: Look, watched: () => WatchedCalls): void {
    this.#engine.look = look;
    this.#engine.watched = watched;
  }

  wakeClient(call: Call): void {
    const { tenant, clientId, id, version } = call;
    if (clientId === null) return;
    this.#outbox.send({ kind: 'wake_client', tenant, client: clientId, call: id, version });
    // For nodes that lose the notification, or that this one does not know yet.
    this.offer([call]);
  }

  onWakeClient(look: Wake): void {
    this.#clients.onWake(look);
  }

  clientAttached(tenant: string, clientId: string): () => void {
    const end = this.#clients.add(tenant, clientId);
    if (this.#heartbeat.others.length > 0) this.#guard.start(() => this.#clients.poll());
    return end;
  }

  sessionTaken(session: string): void {
    this.#outbox.send({ kind: 'session_taken', session });
  }

  onSessionTaken(close: (session: string) => void): void {
    this.#engine.closeSession = close;
  }

  offer(calls: readonly Call[]): void {
    this.#pendingOffers.add(calls);
    this.#offerPending();
  }

  onOffered(room: Room, hasTool: HasTool): void {
    this.#engine.room = room;
    this.#engine.hasTool = hasTool;
  }

  async claimHome(run: RunScope, place: string): Promise<WorkspaceHome> {
    const { table } = this.#parts;
    const home = await this.#guard.request(() => table.claimHome(run, place));
    if (home.writer !== table.self.writer)
      return { isHere: false, node: home.writer, hasSameFiles: home.place === place };
    return { isHere: true, isNew: home.before !== null && home.before.place !== place };
  }

  async give({ id, version }: Call, node: number): Promise<boolean> {
    const isGiven = await this.#guard.request(() => this.#parts.table.give({ id, version }, node));
    if (isGiven) this.#parts.bus.send(node, { kind: 'given' });
    return isGiven;
  }

  async handOver(): Promise<void> {
    const living = this.#heartbeat.others.filter(({ state }) => state === 'held');
    const [preferred] = living.toSorted((a, b) => b.room - a.room);
    await this.#guard.run(async () => {
      const { to } = await this.#parts.table.handOver(preferred?.writer ?? null);
      if (to !== null) this.#bus.send(to, { kind: 'leaving' });
    });
  }

  runCancelled(tenant: string, runId: string): void {
    this.#outbox.send({ kind: 'run_cancelled', tenant, run: runId });
  }

  onRunCancelled(end: (tenant: string, runId: string) => void): void {
    this.#engine.endRun = end;
  }

  spent(bucket: string, tokens: number): void {
    this.#outbox.spent(bucket, tokens);
  }

  onSpent(take: (bucket: string, tokens: number) => void): void {
    this.#engine.spent = take;
  }

  signal(topic: string, body: unknown): void {
    this.#outbox.send({ kind: 'signal', topic, body });
  }

  onSignal(take: (topic: string, body: unknown) => void): void {
    this.#engine.signal = take;
  }

  transient(event: TransientEvent): void {
    this.#outbox.transient(event);
  }

  onTransient(publish: (event: TransientEvent) => void, followed: () => Iterable<string>): void {
    this.#engine.publish = publish;
    this.#engine.followed = followed;
  }

  announce(revision: number): Promise<void> {
    return this.#announcements.announce(revision);
  }

  onAnnounced(catchUp: () => Promise<number>): void {
    this.#announcements.onAnnounced(catchUp);
  }

  hasLease(): boolean {
    return !this.#guard.isFenced && this.#heartbeat.hasLease;
  }

  onFenced(listener: (problem: string) => void): void {
    this.#guard.onFenced(listener);
  }

  #report(): NodeReport {
    const { version } = this.#parts;
    return {
      state: this.#state,
      url: this.#url,
      version,
      fingerprint: this.#fingerprint,
      room: Math.max(0, this.#engine.room(null)),
      calls: this.#reconciliation.held().size,
      revision: this.#announcements.revision,
      follows: [...new Set(this.#engine.followed())],
    };
  }

  #measures(): NodeMeasures {
    const { isConnected: isBusConnected, sent, received } = this.#bus;
    return {
      takeovers: this.#takeovers,
      callsTakenOver: this.#callsTakenOver,
      fenced: (this.#parts.fencedBefore ?? 0) + (this.#guard.isFenced ? 1 : 0),
      isBusConnected,
      sent,
      received,
      clockOffsetMs: this.clock.offsetMs,
    };
  }

  #looked(nodes: readonly NodeRow[], dead: readonly NodeRow[]): void {
    this.#announcements.check();
    this.#offerPending();
    for (const node of dead) this.#guard.start(() => this.#takeOver(node));
    if (this.#changes.update(nodes)) this.#polls.takingMissing.now();
  }

  #offerPending(): void {
    if (this.#pendingOffers.size > 0 && this.#heartbeat.others.length > 0) this.#polls.offering.now();
  }

  async #takeOver(node: NodeRow): Promise<void> {
    const { table, log } = this.#parts;
    // Each heartbeat finds the node dead until the takeover is committed.
    if (!this.hasLease() || this.isLeaving || this.#takingOver.has(node.writer)) return;
    this.#takingOver.add(node.writer);
    const ids = await table.takeOver(node).finally(() => this.#takingOver.delete(node.writer));
    if (ids === null) return;
    this.#takeovers += 1;
    this.#callsTakenOver += ids.length;
    log.warn('cluster.took_over', { node: node.writer, holder: node.holder, calls: ids.length });
    await this.#taken.pass(ids);
  }

  async #stop(): Promise<void> {
    await Promise.all([this.#heartbeat.stop(), this.#polls.stop()]);
  }
}
