import type { Call } from '../core/call/call.ts';
import type { NodeMeasures, Nodes } from '../core/nodes.ts';
import type { Peers, TransientEvent, WatchedCalls, WorkspaceHome } from '../core/peers.ts';
import type { RunScope } from '../core/workspaces.ts';
import type { Wake } from './attached-clients.ts';
import { clusterServices, type ClusterParts, type ClusterServices } from './cluster-services.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { HasTool, Room } from './engine-callbacks.ts';
import { NodeChanges } from './node-changes.ts';
import { nodeList } from './node-list.ts';
import type { NodeReport, NodeRow } from './node-table.ts';
import type { Refresh } from './reconciliation.ts';
import type { Take } from './taken-calls.ts';

/** One of several nodes over one store. Polls find what a lost notification would have reported. */
export class ClusterPeers implements Peers {
  readonly isSingle = false;
  /** The clock of the database. */
  readonly clock: DatabaseClock;
  readonly #parts: ClusterParts;
  readonly #services: ClusterServices;
  readonly #changes: NodeChanges;
  #state: NodeReport['state'] = 'held';
  #url: string | null = null;
  /** Null until `setFingerprint`. */
  #fingerprint: string | null = null;

  constructor(parts: ClusterParts) {
    this.#parts = parts;
    this.#services = clusterServices(parts, {
      isLeaving: () => this.isLeaving,
      report: () => this.#report(),
      observed: (nodes, dead) => this.#observed(nodes, dead),
    });
    this.clock = this.#services.clock;
    this.#changes = new NodeChanges(() => this.#fingerprint, parts.log);
  }

  /** Begins the heartbeat: until the first one the node has no lease, and its clock is that of the machine. */
  async start(): Promise<void> {
    await this.#services.heartbeat.start();
  }

  /** All nodes as the last heartbeat found them. */
  get nodes(): readonly NodeRow[] {
    return this.#services.heartbeat.nodes;
  }

  /** The nodes, for operators. */
  get list(): Nodes {
    return nodeList(this.#services.heartbeat, this.self, () => this.#measures());
  }

  get self(): number {
    return this.#parts.table.self.writer;
  }

  /** Whether another node could take calls and requests; false once this one is fenced. */
  get hasOthers(): boolean {
    return !this.#services.guard.isFenced && this.#services.heartbeat.others.length > 0;
  }

  get isLeaving(): boolean {
    return this.#state === 'leaving';
  }

  /** The address at which clients reach this node. */
  setUrl(url: string): void {
    this.#url = url;
    this.#services.heartbeat.now();
  }

  /** Hash of configuration, packs and hooks, which is known when the packs are loaded: the heartbeat cannot wait for them. */
  setFingerprint(fingerprint: string): void {
    this.#fingerprint = fingerprint;
    this.#services.heartbeat.now();
  }

  /** From now on other nodes give this one no calls. */
  leave(): void {
    this.#state = 'leaving';
    this.#services.heartbeat.now();
  }

  /** Stops the heartbeat and all polls. The store is closed afterwards, which frees the writer. */
  async close(): Promise<void> {
    await this.#services.stop();
    await this.#services.bus.close();
  }

  async onOrphaned(take: Take): Promise<void> {
    await this.#services.taken.begin(take);
    this.#services.polls.start();
  }

  moved({ id, version }: Call): void {
    this.#services.outbox.send({ kind: 'moved', calls: [[id, version]] });
  }

  ended({ id, version }: Call): void {
    this.#services.outbox.send({ kind: 'ended', calls: [[id, version]] });
  }

  onMoved(refresh: Refresh, watched: () => WatchedCalls): void {
    this.#services.engine.refresh = refresh;
    this.#services.engine.watched = watched;
  }

  wakeClient(call: Call): void {
    const { tenant, clientId, id, version } = call;
    if (clientId === null) return;
    this.#services.outbox.send({ kind: 'wake_client', tenant, client: clientId, call: id, version });
    // For nodes that lose the notification, or that this one does not know yet.
    this.offer([call]);
  }

  onWakeClient(wake: Wake): void {
    this.#services.clients.onWake(wake);
  }

  clientAttached(tenant: string, clientId: string): () => void {
    const end = this.#services.clients.add(tenant, clientId);
    if (this.#services.heartbeat.others.length > 0)
      this.#services.guard.start(() => this.#services.clients.poll());
    return end;
  }

  sessionTaken(session: string): void {
    this.#services.outbox.send({ kind: 'session_taken', session });
  }

  onSessionTaken(close: (session: string) => void): void {
    this.#services.engine.closeSession = close;
  }

  offer(calls: readonly Call[]): void {
    this.#services.pendingOffers.add(calls);
    this.#offerPending();
  }

  onOffered(room: Room, hasTool: HasTool): void {
    this.#services.engine.room = room;
    this.#services.engine.hasTool = hasTool;
  }

  async claimHome(run: RunScope, place: string): Promise<WorkspaceHome> {
    const { table } = this.#parts;
    const home = await this.#services.guard.request(() => table.claimHome(run, place));
    if (home.writer !== table.self.writer)
      return { isHere: false, node: home.writer, hasSameFiles: home.place === place };
    return { isHere: true, isNew: home.before !== null && home.before.place !== place };
  }

  async give({ id, version }: Call, node: number): Promise<boolean> {
    const isGiven = await this.#services.guard.request(() => this.#parts.table.give({ id, version }, node));
    if (isGiven) this.#parts.bus.send(node, { kind: 'given' });
    return isGiven;
  }

  async handOver(): Promise<void> {
    const living = this.#services.heartbeat.others.filter(({ state }) => state === 'held');
    const [preferred] = living.toSorted((a, b) => b.room - a.room);
    await this.#services.guard.run(async () => {
      const { to } = await this.#parts.table.handOver(preferred?.writer ?? null);
      if (to !== null) this.#services.bus.send(to, { kind: 'leaving' });
    });
  }

  runCancelled(tenant: string, runId: string): void {
    this.#services.outbox.send({ kind: 'run_cancelled', tenant, run: runId });
  }

  onRunCancelled(end: (tenant: string, runId: string) => void): void {
    this.#services.engine.endRun = end;
  }

  spent(bucket: string, tokens: number): void {
    this.#services.outbox.spent(bucket, tokens);
  }

  onSpent(take: (bucket: string, tokens: number) => void): void {
    this.#services.engine.spent = take;
  }

  signal(topic: string, body: unknown): void {
    this.#services.outbox.send({ kind: 'signal', topic, body });
  }

  onSignal(take: (topic: string, body: unknown) => void): void {
    this.#services.engine.signal = take;
  }

  transient(event: TransientEvent): void {
    this.#services.outbox.transient(event);
  }

  onTransient(publish: (event: TransientEvent) => void, followed: () => Iterable<string>): void {
    this.#services.engine.publish = publish;
    this.#services.engine.followed = followed;
  }

  announce(revision: number): Promise<void> {
    return this.#services.announcements.announce(revision);
  }

  onAnnounced(catchUp: () => Promise<number>): void {
    this.#services.announcements.onAnnounced(catchUp);
  }

  hasLease(): boolean {
    return this.#services.hasLease();
  }

  onFenced(listener: (problem: string) => void): void {
    this.#services.guard.onFenced(listener);
  }

  #report(): NodeReport {
    const { version } = this.#parts;
    return {
      state: this.#state,
      url: this.#url,
      version,
      fingerprint: this.#fingerprint,
      room: Math.max(0, this.#services.engine.room(null)),
      calls: this.#services.reconciliation.held().size,
      revision: this.#services.announcements.revision,
      follows: [...new Set(this.#services.engine.followed())],
    };
  }

  #measures(): NodeMeasures {
    const { isConnected: isBusConnected, sent, received } = this.#services.bus;
    return {
      ...this.#services.takeovers.counts,
      fenced: (this.#parts.fencedBefore ?? 0) + (this.#services.guard.isFenced ? 1 : 0),
      isBusConnected,
      sent,
      received,
      clockOffsetMs: this.clock.offsetMs,
    };
  }

  #observed(nodes: readonly NodeRow[], dead: readonly NodeRow[]): void {
    const { announcements, guard, takeovers, polls } = this.#services;
    announcements.check();
    this.#offerPending();
    for (const node of dead) guard.start(() => takeovers.run(node));
    if (this.#changes.update(nodes)) polls.takingMissing.now();
  }

  #offerPending(): void {
    const { pendingOffers, heartbeat, polls } = this.#services;
    if (pendingOffers.size > 0 && heartbeat.others.length > 0) polls.offering.now();
  }
}
