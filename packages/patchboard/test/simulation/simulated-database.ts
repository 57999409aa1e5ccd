import type { Call } from '../../src/core/call/call.ts';
import type { Inserted, NewCall, OpenCallFilter, Replaced, Store } from '../../src/core/ports.ts';
import { RevisionLog, type RevisedMembers } from '../support/revision-log.ts';
import type { Kernel } from './kernel.ts';
import type { Profile } from './profile.ts';
import type { Random } from './random.ts';
import { SimulatedNodeTable } from './simulated-node-table.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { StoreConnection } from './simulated-store.ts';
import { StoreFaults } from './store-faults.ts';
import type { DurableStore } from './stores/store-kind.ts';

/** The one durable store of a simulation, with what a store that nodes share knows of them. */
export class SimulatedDatabase {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly profile: Profile;
  readonly faults: StoreFaults;
  readonly nodes: SimulatedNodeTable;
  readonly #durable: DurableStore;
  readonly #revisions: RevisionLog;
  /** The members of the store that keep revisions, for each node. */
  readonly #revised: Map<string, RevisedMembers> = new Map();
  /** The newest connection of each node. */
  readonly #connections: Map<string, StoreConnection> = new Map();

  constructor(kernel: Kernel, random: Random, profile: Profile, durable: DurableStore) {
    this.kernel = kernel;
    this.random = random;
    this.profile = profile;
    this.faults = new StoreFaults(kernel);
    this.#durable = durable;
    this.nodes = new SimulatedNodeTable(durable.store, (node) => this.#fence(node));
    this.#revisions = new RevisionLog(durable.store);
  }

  get store(): Store {
    return this.#durable.store;
  }

  get isShared(): boolean {
    return this.profile.nodes > 1;
  }

  /** Connects a new process of a node, and fences the process that the node had before. */
  async open(process: SimulatedProcess): Promise<StoreConnection> {
    if (!this.isShared) await this.kernel.real(this.#durable.reopen());
    this.#fence(process.node);
    const connection = new StoreConnection(this, process);
    this.#connections.set(process.node, connection);
    this.nodes.join(process.node);
    return connection;
  }

  /** Whether the method changes documents or tools, which have revisions in a store that nodes share. */
  isRevised(method: string): boolean {
    return this.isShared && method !== 'changes' && method in this.#members('');
  }

  async revision(node: string): Promise<number> {
    return (await this.#members(node).changes(Number.MAX_SAFE_INTEGER)).revision;
  }

  /** Executes a request in the durable store, as the transaction of `node`. */
  execute(node: string, method: string, args: readonly unknown[]): unknown {
    if (method === 'openCalls') return this.#openCalls(args[0] as OpenCallFilter | undefined);
    const owner =
      this.isRevised(method) || (this.isShared && method === 'changes') ? this.#members(node) : this.store;
    const found = Reflect.get(owner, method) as (...given: readonly unknown[]) => unknown;
    const result = Reflect.apply(found, owner, args);
    if (!this.isShared || (method !== 'insertCall' && method !== 'replaceCall')) return result;
    const finish = (value: unknown): unknown => this.#held(node, method, args, value);
    return result instanceof Promise ? result.then(finish) : finish(result);
  }

  #members(node: string): RevisedMembers {
    const members = this.#revised.get(node) ?? this.#revisions.members({ node });
    this.#revised.set(node, members);
    return members;
  }

  /** No later write of the node's present process is accepted. */
  #fence(node: string): void {
    this.#connections.get(node)?.fence();
    this.#connections.delete(node);
  }

  async #openCalls(of: OpenCallFilter | undefined): Promise<readonly Call[]> {
    const calls: Call[] = [];
    for await (const call of this.store.openCalls(of)) calls.push(call);
    return calls;
  }

  /** Keeps the holder of the call with its row, and marks the conflicts with moves of other nodes. */
  #held(node: string, method: string, args: readonly unknown[], result: unknown): unknown {
    if (method === 'insertCall') {
      const { call } = args[0] as NewCall;
      if ((result as Inserted).kind === 'inserted') this.nodes.moved(call.id, node);
      return result;
    }
    const [call, , , , keepsHolder] = args as readonly [Call, number, unknown, boolean?, boolean?];
    const replaced = result as Replaced;
    if (replaced.kind === 'replaced') this.nodes.moved(call.id, keepsHolder === true ? null : node);
    const isElsewhere = replaced.kind === 'conflict' && this.nodes.holderOf(call.id) !== node;
    return isElsewhere ? { ...replaced, elsewhere: true } : replaced;
  }
}
