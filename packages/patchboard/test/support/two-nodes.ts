import type { TokenKind, TokenStore } from '../../src/core/access/token-store.ts';
import { isOpen, type Call } from '../../src/core/call/call.ts';
import type { LedgerDraft } from '../../src/core/ledger/ledger.ts';
import type {
  Peers,
  TransientEvent,
  WaitingCall,
  WatchedCalls,
  WorkspaceHome,
} from '../../src/core/peers.ts';
import type { Inserted, NewCall, Replaced, Store } from '../../src/core/ports.ts';
import type { RunScope } from '../../src/core/workspaces.ts';
import { DeviceRows } from './device-rows.ts';
import { RevisionLog } from './revision-log.ts';

type Take = (calls: AsyncIterable<Call>) => Promise<void>;

/** What the nodes share besides the rows of the store. */
interface Shared {
  readonly store: Store;
  readonly nodes: TestPeers[];
  /** The node that made the last move of each call. */
  readonly holders: Map<string, TestPeers>;
  /** The calls, with their versions, that their node cannot deliver to a client or has no slot for. */
  readonly undelivered: Map<string, number>;
  readonly offered: Map<string, number>;
  /** The home of each run's workspace. */
  readonly homes: Map<string, { readonly node: TestPeers; readonly place: string }>;
  readonly revisions: RevisionLog;
  readonly tokens: TokenStore;
  readonly devices: DeviceRows;
}

/** The peers of one of several nodes. The test decides what they report. */
export class TestPeers implements Peers {
  readonly isSingle = false;
  /** False: notifications of this node to the others are lost. */
  notifies = true;
  leased = true;
  /** True: the devices of this node cannot be written. */
  devicesFail = false;
  isLeaving = false;
  /** The calls that this node has moved and that other nodes may hold or await. */
  readonly told: Call[] = [];
  readonly offers: Call[] = [];
  /** The calls that other nodes have given to this one and that it has not taken. */
  readonly given: Call[] = [];
  readonly tokens: [bucket: string, tokens: number][] = [];
  readonly transients: TransientEvent[] = [];
  readonly #shared: Shared;
  readonly #attached: Map<string, { tenant: string; clientId: string; connections: number }> = new Map();
  #take: Take | null = null;
  refresh: (callId: string, version: number) => void = () => {};
  watched: () => WatchedCalls = () => ({ held: [], awaited: [] });
  #wake: (call: WaitingCall) => void = () => {};
  #close: (session: string) => void = () => {};
  #room: (tenant: string | null) => number = () => 0;
  #hasTool: (tenant: string, toolName: string, toolVersion: string) => boolean = () => false;
  #end: (tenant: string, runId: string) => void = () => {};
  #spent: (bucket: string, tokens: number) => void = () => {};
  #signal: (topic: string, body: unknown) => void = () => {};
  #publish: (event: TransientEvent) => void = () => {};
  #followed: () => Iterable<string> = () => [];
  #fenced: ((problem: string) => void) | null = null;
  catchUp: () => Promise<number> = () => Promise.resolve(0);

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  async onOrphaned(take: Take): Promise<void> {
    this.#take = take;
  }

  moved(call: Call): void {
    this.told.push(call);
    this.#notify((other) => other.refresh(call.id, call.version));
  }

  ended(call: Call): void {
    this.#notify((other) => other.refresh(call.id, call.version));
  }

  onMoved(refresh: (callId: string, version: number) => void, watched: () => WatchedCalls): void {
    this.refresh = refresh;
    this.watched = watched;
  }

  wakeClient(call: Call): void {
    this.#shared.undelivered.set(call.id, call.version);
    const { tenant, clientId, id, version } = call;
    if (clientId === null) throw new Error(`call ${id} is not a client's`);
    this.#notify((other) => {
      if (other.#attached.has(clientKey(tenant, clientId))) other.#wake({ id, tenant, clientId, version });
    });
  }

  onWakeClient(wake: (call: WaitingCall) => void): void {
    this.#wake = wake;
  }

  clientAttached(tenant: string, clientId: string): () => void {
    const key = clientKey(tenant, clientId);
    const client = this.#attached.get(key) ?? { tenant, clientId, connections: 0 };
    this.#attached.set(key, client);
    client.connections += 1;
    return () => {
      client.connections -= 1;
      if (client.connections === 0) this.#attached.delete(key);
    };
  }

  sessionTaken(session: string): void {
    this.#notify((other) => other.#close(session));
  }

  onSessionTaken(close: (session: string) => void): void {
    this.#close = close;
  }

  offer(calls: readonly Call[]): void {
    this.offers.push(...calls);
    for (const { id, version } of calls) this.#shared.offered.set(id, version);
    this.#notify((other) => void other.takeOffered());
  }

  onOffered(
    room: (tenant: string | null) => number,
    hasTool: (tenant: string, toolName: string, toolVersion: string) => boolean,
  ): void {
    this.#room = room;
    this.#hasTool = hasTool;
  }

  claimHome({ tenant, runId }: RunScope, place: string): WorkspaceHome {
    const { homes, nodes } = this.#shared;
    const key = JSON.stringify([tenant, runId]);
    const home = homes.get(key);
    if (home !== undefined && home.node !== this && home.node.leased && !home.node.isLeaving)
      return { isHere: false, node: nodes.indexOf(home.node), hasSameFiles: home.place === place };
    homes.set(key, { node: this, place });
    return { isHere: true, isNew: home !== undefined && home.node !== this && home.place !== place };
  }

  async give(call: Call, node: number): Promise<boolean> {
    const { store, holders, nodes } = this.#shared;
    const to = nodes[node];
    if (to?.leased !== true || to.isLeaving || holders.get(call.id) !== this) return false;
    const next = { ...call, version: call.version + 1 };
    const replaced = await store.replaceCall(next, call.version, []);
    if (replaced.kind === 'conflict') return false;
    holders.set(call.id, to);
    to.given.push(next);
    if (this.notifies) await to.takeGiven();
    return true;
  }

  /** Takes what other nodes have given to this one. */
  async takeGiven(): Promise<void> {
    await this.orphaned(each(this.given.splice(0)));
  }

  async handOver(): Promise<void> {
    const next = this.#shared.nodes.find((node) => node !== this && node.leased);
    const mine = [...this.#shared.holders].flatMap(([id, holder]) => (holder === this ? [id] : []));
    if (next === undefined) return;
    const calls: Call[] = [];
    for (const id of mine.toSorted()) {
      const call = await this.#shared.store.findCall(id);
      if (call !== undefined && isOpen(call)) calls.push(call);
    }
    for (const { id } of calls) this.#shared.holders.set(id, next);
    await next.orphaned(each(calls));
  }

  runCancelled(tenant: string, runId: string): void {
    this.#notify((other) => other.#end(tenant, runId));
  }

  onRunCancelled(end: (tenant: string, runId: string) => void): void {
    this.#end = end;
  }

  spent(bucket: string, tokens: number): void {
    this.tokens.push([bucket, tokens]);
    this.#notify((other) => other.#spent(bucket, tokens));
  }

  onSpent(take: (bucket: string, tokens: number) => void): void {
    this.#spent = take;
  }

  signal(topic: string, body: unknown): void {
    this.#notify((other) => other.#signal(topic, JSON.parse(JSON.stringify(body))));
  }

  onSignal(take: (topic: string, body: unknown) => void): void {
    this.#signal = take;
  }

  transient(event: TransientEvent): void {
    this.transients.push(event);
    const text = JSON.stringify(event);
    this.#notify((other) => {
      if ([...other.#followed()].includes(event.call.tenant))
        other.#publish(JSON.parse(text) as TransientEvent);
    });
  }

  onTransient(publish: (event: TransientEvent) => void, followed: () => Iterable<string>): void {
    this.#publish = publish;
    this.#followed = followed;
  }

  async announce(_revision: number): Promise<void> {
    const others = this.notifies ? this.#shared.nodes.filter((node) => node !== this) : [];
    await Promise.all(others.map((other) => other.catchUp()));
  }

  onAnnounced(catchUp: () => Promise<number>): void {
    this.catchUp = catchUp;
  }

  followedTenants(): string[] {
    return [...this.#followed()];
  }

  hasLease(): boolean {
    return this.leased;
  }

  onFenced(listener: (problem: string) => void): void {
    this.#fenced = listener;
  }

  /** Another node is gone: its calls fall to this one. */
  async orphaned(calls: AsyncIterable<Call>): Promise<void> {
    await this.#take?.(this.#taken(calls));
  }

  /** The store names this node as the holder of what it takes over. */
  async *#taken(calls: AsyncIterable<Call>): AsyncGenerator<Call> {
    for await (const call of calls) {
      this.#shared.holders.set(call.id, this);
      yield call;
    }
  }

  fence(problem: string): void {
    this.#fenced?.(problem);
  }

  /** What a node reads from the store once a second, whether or not notifications arrive. */
  async poll(): Promise<void> {
    await this.#compareWatched();
    await this.takeGiven();
    await this.#lookForClients();
    await this.takeOffered();
    await this.catchUp();
  }

  async #compareWatched(): Promise<void> {
    const { held, awaited } = this.watched();
    for (const { id, version } of [...held, ...awaited]) {
      const call = await this.#shared.store.findCall(id);
      const stored = call === undefined || !isOpen(call) ? Infinity : call.version;
      if (stored > version || this.#isAnswered(call)) this.refresh(id, stored);
    }
  }

  /** Another node may have recorded a response to a held input request without taking the call. */
  #isAnswered(call: Call | undefined): boolean {
    return call?.state.name === 'INPUT_REQUIRED' && call.inputs.at(-1)?.response !== null;
  }

  async #lookForClients(): Promise<void> {
    for (const [id, version] of this.#shared.undelivered) {
      const call = await this.#shared.store.findCall(id);
      if (call?.version !== version) this.#shared.undelivered.delete(id);
      else if (
        call.clientId !== null &&
        this.#shared.holders.get(id) !== this &&
        this.#attached.has(clientKey(call.tenant, call.clientId))
      )
        this.#wake({ id, tenant: call.tenant, clientId: call.clientId, version });
    }
  }

  async takeOffered(): Promise<void> {
    const { store, offered, holders } = this.#shared;
    const taken: Call[] = [];
    for (const [id, version] of offered) {
      if (taken.length >= this.#room(null)) break;
      const call = await store.findCall(id);
      if (call?.version !== version) offered.delete(id);
      else if (holders.get(id) !== this && this.#canRun(call, taken)) {
        const next = { ...call, version: version + 1 };
        const replaced = await store.replaceCall(next, version, []);
        if (replaced.kind === 'conflict') continue;
        offered.delete(id);
        holders.set(id, this);
        taken.push(next);
      }
    }
    for (const call of taken) this.moved(call);
    if (taken.length > 0) await this.orphaned(each(taken));
  }

  #canRun({ tenant, toolName, toolVersion }: Call, taken: readonly Call[]): boolean {
    const ofTenant = taken.filter((call) => call.tenant === tenant).length;
    return ofTenant < this.#room(tenant) && this.#hasTool(tenant, toolName, toolVersion);
  }

  #notify(notice: (other: TestPeers) => void): void {
    if (this.notifies) for (const other of this.#shared.nodes) if (other !== this) notice(other);
  }
}

export interface TestNode {
  readonly store: Store;
  readonly peers: TestPeers;
  /** What devices at this node offered is removed, as after the death of the node. */
  readonly devicesGone: () => void;
}

/** Two nodes over one store: see `severalNodes`. */
export function twoNodes(shared: Store): { readonly a: TestNode; readonly b: TestNode } {
  const [a, b] = severalNodes(shared, 2);
  if (a === undefined || b === undefined) throw new Error('there are two nodes');
  return { a, b };
}

/**
 * Several nodes over one store. Each sees through its own `Store` which calls other nodes hold: as a store that several
 * nodes share does, it marks the conflicts of their moves as `elsewhere`.
 */
export function severalNodes(store: Store, count: number): TestNode[] {
  const shared: Shared = {
    store,
    nodes: [],
    holders: new Map(),
    undelivered: new Map(),
    offered: new Map(),
    homes: new Map(),
    revisions: new RevisionLog(store),
    tokens: tokensInMemory(),
    devices: new DeviceRows(),
  };
  for (let index = 0; index < count; index += 1) shared.nodes.push(new TestPeers(shared));
  return shared.nodes.map((peers) => ({
    peers,
    store: nodeStore(store, peers, shared),
    devicesGone: () => {
      shared.revisions.gone(peers);
      shared.devices.gone(peers);
    },
  }));
}

/** They do not expire: no test needs it. */
function tokensInMemory(): TokenStore {
  const values = new Map<string, string>();
  const key = (kind: TokenKind, secret: string): string => JSON.stringify([kind, secret]);
  return {
    put: async (kind, secret, value) => void values.set(key(kind, secret), value),
    find: async (kind, secret) => values.get(key(kind, secret)) ?? null,
    spend: async (kind, secret) => {
      const value = values.get(key(kind, secret)) ?? null;
      values.delete(key(kind, secret));
      return value;
    },
  };
}

function clientKey(tenant: string, clientId: string): string {
  return JSON.stringify([tenant, clientId]);
}

export async function* each(calls: readonly Call[]): AsyncGenerator<Call> {
  yield* calls;
}

function nodeStore(shared: Store, self: TestPeers, { holders, revisions, tokens, devices }: Shared): Store {
  const insertCall = async (record: NewCall): Promise<Inserted> => {
    const inserting = shared.insertCall(record);
    // The holder is set with the row, not later.
    const inserted = inserting instanceof Promise ? await inserting : inserting;
    if (inserted.kind === 'inserted') holders.set(record.call.id, self);
    return inserted;
  };
  const replaceCall = async (
    call: Call,
    expectedVersion: number,
    entries: readonly LedgerDraft[],
    argsChanged?: boolean,
    keepsHolder?: boolean,
  ): Promise<Replaced> => {
    const replacing = shared.replaceCall(call, expectedVersion, entries, argsChanged);
    const replaced = replacing instanceof Promise ? await replacing : replacing;
    if (replaced.kind === 'replaced' && keepsHolder !== true) holders.set(call.id, self);
    if (replaced.kind === 'conflict' && holders.get(call.id) !== self)
      return { ...replaced, elsewhere: true };
    return replaced;
  };
  const own: Partial<Store> = {
    ...revisions.members(self),
    insertCall,
    replaceCall,
    tokens,
    devices: devices.of(self, () => self.devicesFail),
  };
  return new Proxy(shared, {
    get: (target, name) => {
      if (Object.hasOwn(own, name)) return own[name as keyof Store];
      const member = Reflect.get(target, name) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
