import type { Call } from '../../src/core/call/call.ts';
import type { Inserted, NewCall, Replaced, Store } from '../../src/core/ports.ts';
import type { Kernel } from './kernel.ts';
import type { Profile } from './profile.ts';
import type { Random } from './random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { StoreConnection, simulatedStore } from './simulated-store.ts';
import { StoreFaults } from './store-faults.ts';
import type { DurableStore } from './stores/store-kind.ts';

/** The one durable store of a simulation, with what a store that processes share knows of them. */
export class SimulatedDatabase {
  readonly kernel: Kernel;
  readonly random: Random;
  readonly profile: Profile;
  readonly faults: StoreFaults;
  readonly #durable: DurableStore;
  /** The newest connection of each node. */
  readonly #connections: Map<string, StoreConnection> = new Map();
  /** The node that made the last move of each call. */
  readonly #holders: Map<string, string> = new Map();

  constructor(kernel: Kernel, random: Random, profile: Profile, durable: DurableStore) {
    this.kernel = kernel;
    this.random = random;
    this.profile = profile;
    this.faults = new StoreFaults(kernel);
    this.#durable = durable;
  }

  get store(): Store {
    return this.#durable.store;
  }

  /** Opens the store for a new process of a node, and fences the process that the node had before. */
  async open(process: SimulatedProcess): Promise<Store> {
    if (this.profile.nodes === 1) await this.kernel.real(this.#durable.reopen());
    const connection = new StoreConnection(this, process);
    this.takeOver(process.node);
    this.#connections.set(process.node, connection);
    return simulatedStore(connection);
  }

  /** No later write of the node's present process is accepted. */
  takeOver(node: string): void {
    this.#connections.get(node)?.fence();
    this.#connections.delete(node);
  }

  holderOf(callId: string): string | undefined {
    return this.#holders.get(callId);
  }

  /** Executes a request in the durable store, as the transaction of `node`. */
  execute(node: string, method: string, args: readonly unknown[]): unknown {
    if (method === 'openCalls') return this.#openCalls();
    const found = Reflect.get(this.store, method) as (...given: readonly unknown[]) => unknown;
    const result = Reflect.apply(found, this.store, args);
    if (this.profile.nodes === 1 || (method !== 'insertCall' && method !== 'replaceCall')) return result;
    const finish = (value: unknown): unknown => this.#held(node, method, args, value);
    return result instanceof Promise ? result.then(finish) : finish(result);
  }

  async #openCalls(): Promise<readonly Call[]> {
    const calls: Call[] = [];
    for await (const call of this.store.openCalls()) calls.push(call);
    return calls;
  }

  /** Keeps the holder of the call with its row, and marks the conflicts with moves of other nodes. */
  #held(node: string, method: string, args: readonly unknown[], result: unknown): unknown {
    if (method === 'insertCall') {
      const { call } = args[0] as NewCall;
      if ((result as Inserted).kind === 'inserted') this.#holders.set(call.id, node);
      return result;
    }
    const [call, , , , keepsHolder] = args as readonly [Call, number, unknown, boolean?, boolean?];
    const replaced = result as Replaced;
    if (replaced.kind === 'replaced' && keepsHolder !== true) this.#holders.set(call.id, node);
    const isElsewhere = replaced.kind === 'conflict' && this.#holders.get(call.id) !== node;
    return isElsewhere ? { ...replaced, elsewhere: true } : replaced;
  }
}
