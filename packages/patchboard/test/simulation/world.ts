import { messageOf } from '../../src/core/failures.ts';
import { ACTORS } from './actors/all.ts';
import { Effects } from './effects.ts';
import { History } from './history.ts';
import { Kernel } from './kernel.ts';
import type { Plan, Step } from './plan.ts';
import type { Profile } from './profile.ts';
import { Random } from './random.ts';
import { SimulatedDatabase } from './simulated-database.ts';
import { SimulatedNetwork, type Operation, type Reply } from './simulated-network.ts';
import { SimulatedNode } from './simulated-node.ts';
import { simulatedBus } from './simulated-peers.ts';
import type { DurableStore } from './stores/store-kind.ts';

/** Everything of one simulation. */
export class World {
  readonly plan: Plan;
  readonly profile: Profile;
  readonly random: Random;
  readonly kernel: Kernel;
  readonly history: History;
  readonly network: SimulatedNetwork;
  readonly database: SimulatedDatabase;
  /** The bus between the nodes. */
  readonly bus: ReturnType<typeof simulatedBus>;
  readonly nodes: readonly SimulatedNode[];
  readonly effects: Effects;
  /** The calls that are known to the actors, by the id of the step that submitted them. */
  readonly calls: Map<string, string> = new Map();
  /** What must not happen at all, such as an exception that nothing caught. */
  readonly problems: string[] = [];
  /** The number of steps that have not ended. */
  #performing = 0;

  constructor(plan: Plan, durable: DurableStore) {
    this.plan = plan;
    this.profile = plan.profile;
    this.random = new Random(plan.seed);
    this.kernel = new Kernel(this.random, (error) => this.problem('an event threw', error));
    this.history = new History(this.kernel);
    this.network = new SimulatedNetwork(this.kernel, this.random, plan.profile);
    this.database = new SimulatedDatabase(this.kernel, this.random, plan.profile, durable);
    this.bus = simulatedBus(this.kernel, this.random, plan.profile);
    this.effects = new Effects(this.history);
    this.nodes = Array.from(
      { length: plan.profile.nodes },
      (_, index) => new SimulatedNode(this, `node-${index + 1}`),
    );
  }

  get performing(): number {
    return this.#performing;
  }

  /** Returns the node of a number that a step holds, whatever the number of nodes is. */
  node(number: unknown): SimulatedNode {
    const node = this.nodes[Number(number) % this.nodes.length];
    if (node === undefined) throw new Error(`no node ${String(number)}`);
    return node;
  }

  /** Sends a request of an actor to a node. */
  request<Value>(
    from: string,
    node: SimulatedNode,
    giveUpMs: number,
    operation: Operation<Value>,
  ): Promise<Reply<Value>> {
    return this.network.request(from, node, giveUpMs, operation);
  }

  problem(what: string, error: unknown): void {
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    this.problems.push(`${what}: ${messageOf(error)} ${stack.split('\n').slice(1, 6).join(' ').trim()}`);
  }

  /** Begins each step at its time. */
  schedule(): void {
    // A step that has not begun counts too: an actor may have planned it for the time after the faults.
    this.#performing += this.plan.steps.length;
    const actors = new Map(ACTORS.map((actor) => [actor.name, actor]));
    for (const step of this.plan.steps)
      this.kernel.after(step.at, () => {
        this.#performing -= 1;
        const performing = actors.get(step.actor)?.perform(this, step);
        if (performing instanceof Promise) this.track(step, performing);
      });
  }

  track(step: Pick<Step, 'id'>, performing: Promise<unknown>): void {
    this.#performing += 1;
    performing.then(
      () => {
        this.#performing -= 1;
      },
      (error: unknown) => {
        this.#performing -= 1;
        this.problem(`step ${step.id}`, error);
      },
    );
  }
}
