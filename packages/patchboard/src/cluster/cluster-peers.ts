import type { Call } from '../core/call/call.ts';
import { messageOf } from '../core/failures.ts';
import type { NodeMeasures, Nodes } from '../core/nodes.ts';
import type { Peers, TransientEvent, WatchedCalls, WorkspaceHome } from '../core/peers.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import type { RunScope } from '../core/workspaces.ts';
import { Announcements } from './announcements.ts';
import { AttachedClients, type Wake } from './attached-clients.ts';
import type { Bus } from './bus.ts';
import { ClusterHeartbeat } from './cluster-heartbeat.ts';
import { CountedBus } from './counted-bus.ts';
import { DatabaseClock } from './database-clock.ts';
import { NodeChanges } from './node-changes.ts';
import { nodeList } from './node-list.ts';
import { NodeFenced, type NodeReport, type NodeRow, type NodeTable } from './node-table.ts';
import type { Notification } from './notification.ts';
import { takeOffered } from './offered-calls.ts';
import { Outbox } from './outbox.ts';
import { OverdueSweep } from './overdue-sweep.ts';
import { PendingOffers } from './pending-offers.ts';
import { Reconciliation, type Look } from './reconciliation.ts';
import { Repeated } from './repeated.ts';
import type { SharedLedger } from './shared-ledger.ts';
import { TakenCalls, type Take } from './taken-calls.ts';
import { COMPARE_EVERY_MS, POLL_EVERY_MS, SWEEP_EVERY_MS } from './timing.ts';

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

type CanRun = (tenant: string, toolName: string, toolVersion: string) => boolean;

/** One of several nodes over one store. Everything that a lost notification would have told is found by polling. */
export class ClusterPeers implements Peers {
  readonly isSingle = false;
  /** The clock of the database. */
  readonly clock: DatabaseClock;
  readonly #parts: ClusterParts;
  readonly #bus: CountedBus;
  readonly #heartbeat: ClusterHeartbeat;
  readonly #outbox: Outbox;
  readonly #taken: TakenCalls;
  readonly #clients: AttachedClients;
  readonly #announcements: Announcements;
  readonly #reconciliation: Reconciliation;
  readonly #changes: NodeChanges;
  readonly #polls: readonly Repeated[];
  readonly #pendingOffers: PendingOffers;
  readonly #offering: Repeated;
  readonly #takingOffered: Repeated;
  readonly #takingMissing: Repeated;
  readonly #fencedListeners: ((problem: string) => void)[] = [];
  #problem: string | null = null;
  #takeovers = 0;
  #callsTakenOver = 0;
  #state: NodeReport['state'] = 'held';
  #url: string | null = null;
  #fingerprint: string | null;
  #look: Look = () => {};
  #watched: () => WatchedCalls = () => ({ held: [], awaited: [] });
  #room: () => number = () => 0;
  #canRun: CanRun = () => false;
  #closeSession: (session: string) => void = () => {};
  #endRun: (tenant: string, runId: string) => void = () => {};
  #spent: (bucket: string, tokens: number) => void = () => {};
  #signal: (topic: string, body: unknown) => void = () => {};
  #publish: (event: TransientEvent) => void = () => {};
  #followed: () => Iterable<string> = () => [];
  /** Each outage is logged once. */
  #isFailing = false;

  constructor(parts: ClusterParts) {
    const { table, log } = parts;
    this.#parts = parts;
    const bus = new CountedBus(parts.bus);
    this.#bus = bus;
    this.clock = new DatabaseClock(parts.clock, log);
    const { clock } = this;
    const others = (): readonly NodeRow[] => this.#heartbeat.others;
    this.#heartbeat = new ClusterHeartbeat({
      table,
      clock,
      log,
      report: () => this.#report(),
      looked: (nodes, dead) => this.#looked(nodes, dead),
      fenced: (problem) => this.#fence(problem),
    });
    this.#outbox = new Outbox({ bus, clock, others });
    this.#fingerprint = parts.fingerprint;
    this.#changes = new NodeChanges(() => this.#fingerprint, log);
    this.#taken = new TakenCalls(table, bus);
    this.#clients = new AttachedClients(table);
    this.#announcements = new Announcements({ bus, clock, others });
    this.#reconciliation = new Reconciliation({
      table,
      look: (id, version) => this.#look(id, version),
      watched: () => this.#watched(),
    });
    const sweep = new OverdueSweep({
      table,
      clock,
      taken: this.#taken,
      hasLease: () => this.hasLease(),
      hasOthers: () => others().length > 0,
      silent: () => this.#heartbeat.silent(),
    });
    const every = (ms: number, work: () => Promise<void>): Repeated =>
      new Repeated(clock, ms, () => this.#guarded(work));
    const whileOthers = (work: () => Promise<void>) => async (): Promise<void> => {
      if (others().length > 0) await work();
    };
    const reconciliation = this.#reconciliation;
    const pendingOffers = new PendingOffers({
      table,
      hasOthers: () => others().length > 0,
      held: () => this.#watched().held,
      marked: () => this.#outbox.send({ kind: 'work' }),
    });
    this.#pendingOffers = pendingOffers;
    this.#offering = every(POLL_EVERY_MS, () => pendingOffers.offer());
    this.#takingOffered = every(
      POLL_EVERY_MS,
      whileOthers(() => this.#takeOffered()),
    );
    this.#takingMissing = every(POLL_EVERY_MS, () => this.#taken.passMissing(() => reconciliation.held()));
    this.#polls = [
      this.#offering,
      this.#takingOffered,
      this.#takingMissing,
      every(SWEEP_EVERY_MS, () => sweep.run()),
      every(
        POLL_EVERY_MS,
        whileOthers(() => reconciliation.compareMoved()),
      ),
      every(
        POLL_EVERY_MS,
        whileOthers(() => reconciliation.compareAwaited()),
      ),
      every(
        POLL_EVERY_MS,
        whileOthers(() => this.#clients.poll()),
      ),
      every(POLL_EVERY_MS, () => this.#announcements.catchUp()),
      every(POLL_EVERY_MS, async () => {
        if (!bus.isConnected) await reconciliation.compareHeld();
      }),
      every(COMPARE_EVERY_MS, () => reconciliation.compareHeld()),
    ];
    parts.store.onFenced?.((problem) => this.#fence(problem));
    parts.ledger.onCommitted(() => this.#outbox.grown());
    bus.listen((notification, from) => this.#received(notification, from));
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
    return this.#problem === null && this.#heartbeat.others.length > 0;
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
    await Promise.all([this.#heartbeat.stop(), ...this.#polls.map((poll) => poll.stop())]);
    await this.#bus.close();
  }

  async onOrphaned(take: Take): Promise<void> {
    await this.#taken.begin(take);
    for (const poll of this.#polls) poll.start();
    // A takeover may have come between.
    this.#takingMissing.now();
  }

  moved({ id, version }: Call): void {
    this.#outbox.send({ kind: 'moved', calls: [[id, version]] });
  }

  ended({ id, version }: Call): void {
    this.#outbox.send({ kind: 'ended', calls: [[id, version]] });
  }

  onMoved(look: Look, watched: () => WatchedCalls): void {
    this.#look = look;
    this.#watched = watched;
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
    if (this.#heartbeat.others.length > 0) this.#start(() => this.#clients.poll());
    return end;
  }

  sessionTaken(session: string): void {
    this.#outbox.send({ kind: 'session_taken', session });
  }

  onSessionTaken(close: (session: string) => void): void {
    this.#closeSession = close;
  }

  offer(calls: readonly Call[]): void {
    this.#pendingOffers.add(calls);
    this.#offerPending();
  }

  onOffered(room: () => number, canRun: CanRun): void {
    this.#room = room;
    this.#canRun = canRun;
  }

  async claimHome(run: RunScope, place: string): Promise<WorkspaceHome> {
    const { table } = this.#parts;
    const home = await this.#refused(() => table.claimHome(run, place));
    if (home.writer !== table.self.writer)
      return { isHere: false, node: home.writer, hasSameFiles: home.place === place };
    return { isHere: true, isNew: home.before !== null && home.before.place !== place };
  }

  async give({ id, version }: Call, node: number): Promise<boolean> {
    const isGiven = await this.#refused(() => this.#parts.table.give({ id, version }, node));
    if (isGiven) this.#parts.bus.send(node, { kind: 'given' });
    return isGiven;
  }

  async handOver(): Promise<void> {
    const living = this.#heartbeat.others.filter(({ state }) => state === 'held');
    const [preferred] = living.toSorted((a, b) => b.room - a.room);
    await this.#guarded(async () => {
      const { to } = await this.#parts.table.handOver(preferred?.writer ?? null);
      if (to !== null) this.#bus.send(to, { kind: 'leaving' });
    });
  }

  runCancelled(tenant: string, runId: string): void {
    this.#outbox.send({ kind: 'run_cancelled', tenant, run: runId });
  }

  onRunCancelled(end: (tenant: string, runId: string) => void): void {
    this.#endRun = end;
  }

  spent(bucket: string, tokens: number): void {
    this.#outbox.spent(bucket, tokens);
  }

  onSpent(take: (bucket: string, tokens: number) => void): void {
    this.#spent = take;
  }

  signal(topic: string, body: unknown): void {
    this.#outbox.send({ kind: 'signal', topic, body });
  }

  onSignal(take: (topic: string, body: unknown) => void): void {
    this.#signal = take;
  }

  transient(event: TransientEvent): void {
    this.#outbox.transient(event);
  }

  onTransient(publish: (event: TransientEvent) => void, followed: () => Iterable<string>): void {
    this.#publish = publish;
    this.#followed = followed;
  }

  announce(revision: number): Promise<void> {
    return this.#announcements.announce(revision);
  }

  onAnnounced(catchUp: () => Promise<number>): void {
    this.#announcements.onAnnounced(catchUp);
  }

  hasLease(): boolean {
    return this.#problem === null && this.#heartbeat.hasLease;
  }

  onFenced(listener: (problem: string) => void): void {
    this.#fencedListeners.push(listener);
    if (this.#problem !== null) listener(this.#problem);
  }

  #report(): NodeReport {
    const { version } = this.#parts;
    return {
      state: this.#state,
      url: this.#url,
      version,
      fingerprint: this.#fingerprint,
      room: Math.max(0, this.#room()),
      calls: this.#reconciliation.held().size,
      revision: this.#announcements.revision,
      follows: [...new Set(this.#followed())],
    };
  }

  #measures(): NodeMeasures {
    const { isConnected: isBusConnected, sent, received } = this.#bus;
    return {
      takeovers: this.#takeovers,
      callsTakenOver: this.#callsTakenOver,
      fenced: (this.#parts.fencedBefore ?? 0) + (this.#problem === null ? 0 : 1),
      isBusConnected,
      sent,
      received,
      clockOffsetMs: this.clock.offsetMs,
    };
  }

  #looked(nodes: readonly NodeRow[], dead: readonly NodeRow[]): void {
    this.#announcements.check();
    this.#offerPending();
    for (const node of dead) this.#start(() => this.#takeOver(node));
    if (this.#changes.update(nodes)) this.#takingMissing.now();
  }

  #offerPending(): void {
    if (this.#pendingOffers.size > 0 && this.#heartbeat.others.length > 0) this.#offering.now();
  }

  async #takeOver(node: NodeRow): Promise<void> {
    const { table, log } = this.#parts;
    if (!this.hasLease() || this.isLeaving) return;
    const ids = await table.takeOver(node);
    if (ids === null) return;
    this.#takeovers += 1;
    this.#callsTakenOver += ids.length;
    log.warn('cluster.took_over', { node: node.writer, holder: node.holder, calls: ids.length });
    await this.#taken.pass(ids);
  }

  async #takeOffered(): Promise<void> {
    if (!this.hasLease() || this.isLeaving) return;
    const { table } = this.#parts;
    const [room, canRun] = [this.#room, this.#canRun];
    await takeOffered({ table, taken: this.#taken, room, canRun });
  }

  #received(notification: Notification, from: number): void {
    switch (notification.kind) {
      case 'moved':
      case 'ended':
        for (const [id, version] of notification.calls) this.#look(id, version);
        return;
      case 'grown':
        return this.#parts.ledger.grown();
      case 'wake_client':
        return this.#clients.notified({
          tenant: notification.tenant,
          clientId: notification.client,
          id: notification.call,
          version: notification.version,
        });
      case 'config':
        return this.#start(() => this.#announcements.received(from, notification.revision));
      case 'work':
        return this.#takingOffered.now();
      case 'rates':
        for (const [bucket, tokens] of notification.spent) this.#spent(bucket, tokens);
        return;
      case 'transient':
        // Written by the outbox of another node.
        return this.#publish(notification.event as TransientEvent);
      case 'signal':
        return this.#signal(notification.topic, notification.body);
      case 'session_taken':
        return this.#closeSession(notification.session);
      case 'run_cancelled':
        return this.#endRun(notification.tenant, notification.run);
      case 'given':
      case 'leaving':
        return this.#takingMissing.now();
    }
  }

  /** A failed poll is repeated by the next one. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    if (this.#problem !== null) return;
    try {
      await work();
      this.#isFailing = false;
    } catch (error) {
      if (error instanceof NodeFenced) return this.#fence(error.message);
      this.#failed(error);
    }
  }

  /** The caller gets the error; of a fenced node it is also the end. */
  async #refused<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NodeFenced) this.#fence(error.message);
      throw error;
    }
  }

  /** Begins work that nothing awaits. */
  #start(work: () => Promise<void>): void {
    this.#guarded(work).catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) this.#parts.log.warn('cluster.poll_failed', { error: messageOf(error) });
    this.#isFailing = true;
  }

  #fence(problem: string): void {
    if (this.#problem !== null) return;
    this.#problem = problem;
    const stopping = [this.#heartbeat, ...this.#polls].map((repeated) => repeated.stop());
    Promise.all(stopping).catch((error: unknown) => this.#failed(error));
    for (const listener of this.#fencedListeners) listener(problem);
  }
}
