import { MemoryTokens } from '../../src/core/access/memory-tokens.ts';
import type { Call } from '../../src/core/call/call.ts';
import type { Inserted, NewCall, OpenCallFilter, Replaced, Store } from '../../src/core/ports.ts';
import { MemoryNodes, type MemoryNode } from '../support/memory-nodes.ts';
import { DeviceRows } from '../support/device-rows.ts';
import { RevisionLog, type RevisedMembers } from '../support/revision-log.ts';
import type { Kernel } from './kernel.ts';
import type { Profile } from './profile.ts';
import type { Random } from './random.ts';
import { kernelClock } from './simulated-clock.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { simulatedDevices, simulatedTokens } from './simulated-tables.ts';
import { StoreConnection, type SharedMembers } from './simulated-store.ts';
import { StoreFaults } from './store-faults.ts';
import { Takeovers } from './takeovers.ts';
import type { DurableStore } from './stores/store-kind.ts';

/** The commit that assigns a call to a device. */
interface Assignment {
  readonly device: string;
  /** Simulated milliseconds. */
  readonly at: number;
}

type Written = Inserted | Replaced;

const CALL_WRITES: ReadonlySet<string> = new Set(['insertCall', 'replaceCall']);

/** The one durable store of a simulation, with what a store that nodes share knows of them. */
export class SimulatedDatabase {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly profile: Profile;
  readonly faults: StoreFaults;
  readonly takeovers: Takeovers;
  /** When each call was sealed, in simulated milliseconds. */
  readonly sealed: Map<string, number> = new Map();
  /** To which device each call was assigned, and when. */
  readonly assigned: Map<string, Assignment> = new Map();
  readonly #durable: DurableStore;
  readonly #nodes: MemoryNodes;
  readonly #revisions: RevisionLog;
  /** Tokens that all nodes accept. */
  readonly #tokens: MemoryTokens;
  readonly #devices: DeviceRows = new DeviceRows();
  /** The members of the store that keep revisions, for each process. */
  readonly #revised: Map<string, RevisedMembers> = new Map();
  /** The processes of nodes whose devices may offer tools. */
  readonly #offering: Map<MemoryNode, { readonly process: string }> = new Map();
  /** The faults of the connection of each node. */
  readonly #lines: Map<string, StoreFaults> = new Map();
  /** The newest connection, if there is one node. */
  #connection: StoreConnection | null = null;

  constructor(kernel: Kernel, random: Random, profile: Profile, durable: DurableStore) {
    this.kernel = kernel;
    this.random = random;
    this.profile = profile;
    this.faults = new StoreFaults(kernel);
    this.#durable = durable;
    this.takeovers = new Takeovers(kernel);
    const clock = kernelClock(kernel);
    this.#tokens = new MemoryTokens(clock);
    this.#nodes = new MemoryNodes(durable.store, () => clock.now());
    this.#revisions = new RevisionLog(durable.store);
  }

  get store(): Store {
    return this.#durable.store;
  }

  get isShared(): boolean {
    return this.profile.nodes > 1;
  }

  /** The faults that a node meets: those of the store, and those of its connection to it. */
  faultsOf(node: string): StoreFaults {
    const line = this.#lines.get(node) ?? new StoreFaults(this.kernel, this.faults);
    this.#lines.set(node, line);
    return line;
  }

  /** All faults are over. */
  heal(): void {
    for (const faults of [this.faults, ...this.#lines.values()]) faults.clear();
  }

  /** Connects a new process. If there is one node, the process that it had before is fenced. */
  async open(process: SimulatedProcess): Promise<StoreConnection> {
    if (this.isShared) {
      const node = this.#nodes.join(process.name);
      const offering = { process: process.name };
      this.#offering.set(node, offering);
      this.#revised.set(process.name, this.#revisions.members(offering));
      return new StoreConnection(this, process, node);
    }
    await this.kernel.real(this.#durable.reopen());
    this.#connection?.fence();
    this.#connection = new StoreConnection(this, process, null);
    return this.#connection;
  }

  /** The members of the store of a node for what it shares with the others besides rows of calls; null: it has no peers. */
  sharedOf(connection: StoreConnection): SharedMembers | null {
    const { node } = connection;
    const offering = node === null ? undefined : this.#offering.get(node);
    if (offering === undefined) return null;
    return {
      tokens: simulatedTokens(connection, this.#tokens),
      devices: simulatedDevices(connection, this.#devices.of(offering)),
    };
  }

  /** Whether another node has taken over this one. */
  isFenced({ table }: MemoryNode): boolean {
    return !this.#nodes.holds(table.self);
  }

  /** Whether the method changes documents or tools, which have revisions in a store that nodes share. */
  isRevised(method: string): boolean {
    return this.isShared && method !== 'changes' && method in this.#members('');
  }

  async revision(process: string): Promise<number> {
    return (await this.#members(process).changes(Number.MAX_SAFE_INTEGER)).revision;
  }

  /** Executes a request in the durable store, as the transaction of a process. */
  execute(process: string, node: MemoryNode | null, method: string, args: readonly unknown[]): unknown {
    if (method === 'changes') this.#removeOffersOfGone();
    if (method === 'openCalls') return this.#openCalls(args[0] as OpenCallFilter | undefined);
    const owner = this.#executor(process, node, method);
    const found = Reflect.get(owner, method) as (...given: readonly unknown[]) => unknown;
    const result = Reflect.apply(found, owner, args);
    if (!CALL_WRITES.has(method)) return result;
    const noted = (written: unknown): unknown => {
      if (node !== null) this.takeovers.committed(process, node.table.self, method);
      this.#note(method === 'insertCall' ? (args[0] as NewCall).call : (args[0] as Call), written as Written);
      return written;
    };
    return result instanceof Promise ? result.then(noted) : noted(result);
  }

  #executor(process: string, node: MemoryNode | null, method: string): object {
    if (node === null) return this.store;
    if (CALL_WRITES.has(method)) return node.store;
    return this.isRevised(method) || method === 'changes' ? this.#members(process) : this.store;
  }

  #members(process: string): RevisedMembers {
    const members = this.#revised.get(process) ?? this.#revisions.members({ process });
    this.#revised.set(process, members);
    return members;
  }

  /** What devices offered whose nodes are gone; a store does that once a second, and nodes read the changes as often. */
  #removeOffersOfGone(): void {
    for (const [node, offering] of this.#offering)
      if (this.isFenced(node)) {
        this.#offering.delete(node);
        this.#revisions.gone(offering);
        this.#devices.gone(offering);
      }
  }

  async #openCalls(of: OpenCallFilter | undefined): Promise<readonly Call[]> {
    const calls: Call[] = [];
    for await (const call of this.store.openCalls(of)) calls.push(call);
    return calls;
  }

  #note({ id, state }: Call, { kind }: Written): void {
    const at = this.kernel.now;
    if (kind !== 'inserted' && kind !== 'replaced') return;
    if (state.name === 'SEALED') this.sealed.set(id, at);
    if (
      state.name === 'EXECUTING' &&
      state.device !== undefined &&
      this.assigned.get(id)?.device !== state.device
    )
      this.assigned.set(id, { device: state.device, at });
  }
}
