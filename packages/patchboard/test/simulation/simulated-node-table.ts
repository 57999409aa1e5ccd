import { isOpen, type Call } from '../../src/core/call/call.ts';
import type { Store } from '../../src/core/ports.ts';

/** What the nodes know of one node. */
export interface NodeRow {
  readonly node: string;
  /** Grows with each process of the node. */
  readonly epoch: number;
  /** Grows with each heartbeat. */
  readonly beat: number;
  /** `gone`: another node has taken its calls. `left`: it has handed them over. */
  readonly state: 'held' | 'gone' | 'left';
  readonly room: number;
}

/** The nodes of a shared store and who holds which call, in memory. Each method is one transaction. */
export class SimulatedNodeTable {
  readonly #store: Store;
  readonly #fence: (node: string) => void;
  readonly #rows: Map<string, NodeRow> = new Map();
  /** The node that made the last move of each call, or took it. */
  readonly #holders: Map<string, string> = new Map();
  /** Calls that a node has been given and has not moved. */
  readonly #taken: Set<string> = new Set();
  /** Calls with their versions that a node with room may take. */
  readonly #offered: Map<string, number> = new Map();
  /** Calls with their versions that a node with a connection of their client may take. */
  readonly #undelivered: Map<string, number> = new Map();

  constructor(store: Store, fence: (node: string) => void) {
    this.#store = store;
    this.#fence = fence;
  }

  holderOf(callId: string): string | undefined {
    return this.#holders.get(callId);
  }

  /** A move was committed. `node` null: the call stays with the node that holds it. */
  moved(callId: string, node: string | null): void {
    if (node !== null) this.#holders.set(callId, node);
    this.#taken.delete(callId);
  }

  /** A new process of the node has connected. */
  join(node: string): void {
    const epoch = (this.#rows.get(node)?.epoch ?? 0) + 1;
    this.#rows.set(node, { node, epoch, beat: 0, state: 'held', room: 0 });
  }

  beat(node: string, room: number): NodeRow[] {
    const row = this.#rows.get(node);
    if (row !== undefined) this.#rows.set(node, { ...row, beat: row.beat + 1, room });
    return [...this.#rows.values()];
  }

  /** Takes the calls of a node whose heartbeat stands still, and fences it. Null: it went on, or is gone already. */
  async takeOver(by: string, { node, epoch, beat }: NodeRow): Promise<Call[] | null> {
    const row = this.#rows.get(node);
    if (row?.epoch !== epoch || row.beat !== beat || row.state !== 'held') return null;
    this.#rows.set(node, { ...row, state: 'gone' });
    this.#fence(node);
    return await this.#give(node, by);
  }

  /** Gives all calls of a node that leaves to the node with most room; null if there is none. */
  async handOver(from: string): Promise<Call[] | null> {
    const others = [...this.#rows.values()].filter(({ node, state }) => node !== from && state === 'held');
    const [to] = others.toSorted((a, b) => b.room - a.room);
    const row = this.#rows.get(from);
    if (to === undefined || row === undefined) return null;
    this.#rows.set(from, { ...row, state: 'left' });
    return await this.#give(from, to.node);
  }

  /** Open calls that the node holds; `isTaken`: only those that it was given and has not moved. */
  async callsOf(node: string, isTaken: boolean): Promise<Call[]> {
    const calls: Call[] = [];
    for await (const call of this.#store.openCalls())
      if (this.#holders.get(call.id) === node && (!isTaken || this.#taken.has(call.id))) calls.push(call);
    return calls;
  }

  /** Takes calls of other nodes that should have ended before `before`. */
  async claimOverdue(node: string, before: number): Promise<Call[]> {
    const claimed: Call[] = [];
    for await (const call of this.#store.openCalls())
      if ('deadlineAt' in call.state && call.state.deadlineAt < before && this.#holders.get(call.id) !== node)
        claimed.push(await this.#take(node, call));
    return claimed;
  }

  offer(calls: readonly Call[]): void {
    for (const { id, version } of calls) this.#offered.set(id, version);
  }

  async takeOffered(node: string, room: number, canRun: (call: Call) => boolean): Promise<Call[]> {
    const taken: Call[] = [];
    for (const [id, version] of this.#offered) {
      const call = await this.#store.findCall(id);
      if (call?.version !== version || !isOpen(call)) this.#offered.delete(id);
      else if (taken.length < room && this.#holders.get(id) !== node && canRun(call)) {
        this.#offered.delete(id);
        taken.push(await this.#take(node, call));
      }
    }
    return taken;
  }

  notDelivered({ id, version }: Call): void {
    this.#undelivered.set(id, version);
  }

  /** The calls that other nodes hold and cannot deliver to their clients. */
  async waiting(node: string): Promise<Call[]> {
    const waiting: Call[] = [];
    for (const [id, version] of this.#undelivered) {
      const call = await this.#store.findCall(id);
      if (call?.version !== version || !isOpen(call)) this.#undelivered.delete(id);
      else if (this.#holders.get(id) !== node) waiting.push(call);
    }
    return waiting;
  }

  /** The stored version of each call; Infinity: it has ended. */
  async versions(ids: readonly string[]): Promise<Map<string, number>> {
    const versions = new Map<string, number>();
    for (const id of ids) {
      const call = await this.#store.findCall(id);
      versions.set(id, call === undefined || !isOpen(call) ? Infinity : call.version);
    }
    return versions;
  }

  async #give(from: string, to: string): Promise<Call[]> {
    const calls = await this.callsOf(from, false);
    for (const { id } of calls) {
      this.#holders.set(id, to);
      this.#taken.add(id);
    }
    return calls;
  }

  /** A new version, so that no move of the former holder succeeds. */
  async #take(node: string, call: Call): Promise<Call> {
    const next: Call = { ...call, version: call.version + 1 };
    const replaced = await this.#store.replaceCall(next, call.version, []);
    if (replaced.kind !== 'replaced') throw new Error(`call ${call.id} was moved during a transaction`);
    this.#holders.set(call.id, node);
    this.#taken.add(call.id);
    return next;
  }
}
