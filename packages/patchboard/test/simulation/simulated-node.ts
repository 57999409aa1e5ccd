import type { Engine } from '../../src/core/engine.ts';
import { messageOf, storeFailure } from '../../src/core/failures.ts';
import { singleNode } from '../../src/core/peers.ts';
import type { Log, Store } from '../../src/core/ports.ts';
import { ACTORS } from './actors/all.ts';
import { accessOf, simulatedEngine, type AccessServices } from './simulated-engine.ts';
import type { Reachable } from './simulated-network.ts';
import { simulatedPeers } from './simulated-peers.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { simulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

const RESTART_AFTER_FAILED_START_MS = 500;
const RESTART_AFTER_FENCE_MS = 200;

/** One process of a node. */
export interface Incarnation {
  readonly process: SimulatedProcess;
  readonly engine: Engine;
  /** The store as the process sees it. */
  readonly store: Store;
}

/** One node: the process that runs it now, and those that it replaced while they were paused. */
export class SimulatedNode implements Reachable {
  readonly name: string;
  process: SimulatedProcess | null = null;
  /** Null until it has started. */
  engine: Engine | null = null;
  /** All processes that the node had, with their engines: one that was replaced while it was paused may still run. */
  readonly incarnations: Incarnation[] = [];
  /** The number of its process in the table of nodes; null if it shares the store with no other node. */
  writer: number | null = null;
  /** The version of the packs with which the next process starts. */
  packVersion = 1;
  readonly #world: World;
  readonly #skewMs: number;
  /** How the processes of a cluster stop. */
  readonly #leave: Map<SimulatedProcess, () => Promise<void>> = new Map();
  #incarnation = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    const { skewMs } = world.profile;
    this.#skewMs = world.random.of('skew', name).integer(-skewMs, skewMs);
  }

  get isUp(): boolean {
    return this.process !== null && !this.process.isDead;
  }

  /** Starts a new process. One that runs or is paused is replaced: the store fences it. */
  start(): void {
    const { kernel, history } = this.#world;
    this.#incarnation += 1;
    const process = new SimulatedProcess(kernel, this.name, this.#incarnation, this.#skewMs);
    this.process = process;
    this.engine = null;
    history.add(process.name, 'start', { packs: this.packVersion });
    this.#open(process).catch((error: unknown) => {
      // A server that cannot open its store exits, and is started again.
      history.add(process.name, 'start failed', { error: messageOf(error) });
      process.kill();
      kernel.after(RESTART_AFTER_FAILED_START_MS, () => {
        if (this.process === process) this.start();
      });
    });
  }

  kill(): void {
    if (!this.isUp || this.process === null) return;
    this.#world.history.add(this.process.name, 'kill');
    this.process.kill();
    this.engine = null;
  }

  /** As SIGTERM does: leaves the cluster, and stops the engine and everything else of the process. */
  async drain(process: SimulatedProcess): Promise<void> {
    const engine = this.incarnations.find((one) => one.process === process)?.engine;
    // As a server that closes its APIs: the time of a use is written later otherwise.
    if (engine !== undefined && engine !== null) await accessOf(engine).keys.uses.flush();
    await (this.#leave.get(process) ?? (async () => await engine?.drain()))();
  }

  async #open(process: SimulatedProcess): Promise<void> {
    const world = this.#world;
    const connection = await world.database.open(process);
    const store = simulatedStore(connection, world.database.sharedOf(connection));
    const log = this.#log(process);
    const { node } = connection;
    const cluster = node === null ? null : simulatedPeers(world.bus, connection, node.table, log);
    if (this.process === process) this.writer = node?.table.self.writer ?? null;
    await cluster?.start();
    const peers = cluster ?? singleNode(store);
    const clock = cluster?.clock ?? process.clock;
    const engine = simulatedEngine({ clock, process, store, peers, log, random: world.random });
    this.incarnations.push({ process, engine, store });
    if (cluster !== null)
      this.#leave.set(process, async () => {
        cluster.leave();
        await engine.drain();
        await cluster.close();
        await connection
          .transact('table', async () => await node?.table.leave())
          .catch((error: unknown) => {
            // The process ends all the same, and other nodes take over.
            if (storeFailure(error) === null) throw error;
          });
      });
    for (const { packs } of ACTORS) for (const pack of packs?.(world, process) ?? []) engine.addPack(pack);
    const { grants, policies, keys } = accessOf(engine);
    if (world.profile.hasPolicies) await loadPolicies(grants, policies);
    if (world.profile.hasKeys) await keys.load();
    const { resumed, sealed } = await engine.start();
    world.history.add(process.name, 'ready', { resumed, sealed });
    if (this.process === process) this.engine = engine;
    engine.onFenced(() => this.#fenced(process));
    for (const { started } of ACTORS) started?.(world, process);
  }

  /** Another node has taken over: the server starts again. */
  #fenced(process: SimulatedProcess): void {
    const { history, kernel } = this.#world;
    history.add(process.name, 'fenced');
    kernel.after(RESTART_AFTER_FENCE_MS, () => {
      process.kill();
      if (this.process === process) this.start();
    });
  }

  #log(process: SimulatedProcess): Log {
    const { history } = this.#world;
    const note =
      (level: string) =>
      (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
        history.add(process.name, level, { event, ...fields });
    return { info: () => {}, warn: note('warn'), error: note('error') };
  }
}

async function loadPolicies(
  grants: AccessServices['grants'],
  policies: AccessServices['policies'],
): Promise<void> {
  await grants.load();
  for (const problem of await policies.load()) throw new Error(problem);
}
