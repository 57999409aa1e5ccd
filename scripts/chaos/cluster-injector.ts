import { setTimeout as pause } from 'node:timers/promises';
import type { NatsService } from '../../packages/patchboard/test/services/nats.ts';
import { isCommit } from '../../packages/patchboard/test/services/proxy.ts';
import type { Death } from './check-cluster.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { ClusterFault } from './cluster-faults.ts';
import type { ClusterHealth } from './cluster-health.ts';
import type { ClusterNode } from './cluster-node.ts';
import { FAILPOINTS } from './failpoints.ts';
import type { FragileDatabase } from './fragile-database.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface InjectorParts {
  readonly nodes: readonly ClusterNode[];
  readonly database: FragileDatabase;
  readonly nats: NatsService;
  readonly health: ClusterHealth;
  readonly api: ClusterApi;
  readonly random: SeededRandom;
  readonly longestMs: number;
  readonly deaths: Death[];
  readonly violated: (text: string) => void;
}

const SHORTEST_MS = 500;
/** If a failpoint is not reached in this time, the node is killed from outside. */
const PATIENCE_MS = 4000;
/** A node that stood still for this long was taken for dead. */
const DEAD_MS = 6000;
/** How long after the database accepts connections its nodes may not have noticed. */
const RECONNECT_MS = 2000;
/** G18: work resumes in this time after the database is back. */
const RESUME_MS = 10_000;
const CLOCK_MS = 3_600_000;

/** Injects faults. One of a node lasts while the next ones begin at others; one node is always left alone. */
export class ClusterInjector {
  readonly counts: Record<string, number> = {};
  readonly #parts: InjectorParts;
  readonly #random: SeededRandom;
  /** Nodes with a fault. */
  readonly #busy: Map<number, Promise<void>> = new Map();
  worstResumeMs = 0;

  constructor(parts: InjectorParts) {
    this.#parts = parts;
    this.#random = parts.random;
  }

  /** Resolves when the next fault may begin. */
  async inject(fault: ClusterFault): Promise<void> {
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
    switch (fault) {
      case 'database stopped at once':
        return await this.#withoutDatabase('immediate');
      case 'database killed':
        return await this.#withoutDatabase('kill');
      case 'NATS restarted':
        await this.#parts.nats.kill();
        await pause(this.#random.between(0, 3000));
        return await this.#parts.nats.start();
      case 'rolling restart':
        return await this.#rollingRestart();
      default: {
        const node = await this.#freeNode();
        const recovered = this.#parts.health.disturb([node.number]);
        const fate = this.#strike(fault, node)
          .catch((error: unknown) =>
            this.#parts.violated(`${fault} at node ${node.number}: ${String(error)}`),
          )
          .finally(() => {
            recovered();
            this.#busy.delete(node.number);
          });
        this.#busy.set(node.number, fate);
      }
    }
  }

  /** Resolves when all faults are over and all nodes are ready. */
  async quiet(): Promise<void> {
    await Promise.all(this.#busy.values());
    await this.#allHealthy();
  }

  async #strike(fault: ClusterFault, node: ClusterNode): Promise<void> {
    const random = this.#random;
    switch (fault) {
      case 'node killed':
        await this.#kill(node, fault);
        await pause(random.between(0, 5000));
        return await node.start();
      case 'node stopped':
        return await this.#stop(node, this.#duration());
      case 'killed at a failpoint':
        return await this.#killAtFailpoint(node);
      case 'clock wrong':
        await node.terminate();
        return await node.start({ clockMs: random.pick([-CLOCK_MS, CLOCK_MS]) });
      case 'connections terminated':
        await this.#parts.database.terminateConnections(random);
        return await pause(RECONNECT_MS);
      case 'link cut':
        return await this.#withoutLink(node, random.chance(0.3) ? 0 : this.#duration() / 2, 'refuse');
      case 'link silent':
        return await this.#withoutLink(node, this.#duration() / 2, 'freeze');
      case 'commit interrupted':
        return await this.#interruptCommit(node);
      case 'NATS link cut':
        node.natsLink.cut();
        return;
      case 'NATS link silent':
        node.natsLink.drop('both');
        await pause(this.#duration() / 2);
        node.natsLink.restore();
        node.natsLink.cut();
        return;
      default:
        throw new Error(`no node has the fault ${fault}`);
    }
  }

  /** Ended by SIGKILL; noted before, because no later change is its own. */
  async #kill(node: ClusterNode, cause: string): Promise<void> {
    this.#died(node, cause);
    await node.kill();
  }

  async #stop(node: ClusterNode, ms: number): Promise<void> {
    const death = ms >= DEAD_MS ? this.#died(node, `stopped for ${ms} ms`) : null;
    node.server.freeze();
    await pause(ms);
    if (death !== null) death.until = Date.now();
    node.server.wake();
    await this.#ready(node);
  }

  async #killAtFailpoint(node: ClusterNode): Promise<void> {
    const count = this.counts['killed at a failpoint'] ?? 0;
    const failpoint = FAILPOINTS[count % FAILPOINTS.length] ?? 'insert.before';
    await this.#kill(node, 'killed before a failpoint');
    await node.start({ failpoint, hit: this.#random.between(1, 12) });
    const { server } = node;
    const endedAt = server.ended.then(() => Date.now());
    const at = await Promise.race([endedAt, pause(PATIENCE_MS, null, { ref: false })]);
    this.#died(node, failpoint, at ?? Date.now());
    await node.kill();
    await node.start();
  }

  async #withoutLink(node: ClusterNode, ms: number, how: 'refuse' | 'freeze'): Promise<void> {
    const death = ms >= DEAD_MS ? this.#died(node, `link ${how}: ${ms} ms`) : null;
    node.link[how]();
    await pause(ms);
    if (death !== null) death.until = Date.now();
    node.link.pass();
    await pause(RECONNECT_MS);
    await this.#ready(node);
  }

  /** The database has committed or not, and the node does not get to know. */
  async #interruptCommit(node: ClusterNode): Promise<void> {
    const random = this.#random;
    const direction = random.pick(['request', 'reply'] as const);
    const how = random.pick(['cutAt', 'swallowFrom'] as const);
    await Promise.race([node.link[how](direction, isCommit), pause(PATIENCE_MS, null, { ref: false })]);
    await this.#withoutLink(node, random.between(0, 3000), 'refuse');
  }

  async #withoutDatabase(how: 'kill' | 'immediate'): Promise<void> {
    const { database, health, nodes } = this.#parts;
    const recovered = health.disturb(nodes.map(({ number }) => number));
    await database.stop(how);
    await pause(this.#random.chance(0.7) ? this.#random.between(0, 800) : this.#random.between(800, 8000));
    await database.start();
    const back = performance.now();
    await pause(RECONNECT_MS);
    recovered();
    await this.#someHealthy();
    const ms = Math.round(performance.now() - back);
    this.worstResumeMs = Math.max(this.worstResumeMs, ms);
    if (ms > RESUME_MS) this.#parts.violated(`no node was ready until ${ms} ms after the database was back`);
  }

  /** All nodes in turn; no request through the balancer fails. */
  async #rollingRestart(): Promise<void> {
    const { api, nodes, health, violated } = this.#parts;
    await this.quiet();
    api.isStrict = true;
    try {
      for (const node of nodes) {
        const recovered = health.disturb([node.number]);
        const { code } = await node.terminate();
        if (code !== 0)
          violated(`SIGTERM ended node ${node.number} with code ${code}:\n${node.server.stderr}`);
        await node.start();
        recovered();
        await this.#ready(node);
      }
    } finally {
      api.isStrict = false;
      await api.strictEnded();
    }
  }

  /** A node without a fault, while another one has none either. */
  async #freeNode(): Promise<ClusterNode> {
    const { nodes } = this.#parts;
    for (;;) {
      const free = nodes.filter(({ number }) => !this.#busy.has(number));
      if (free.length > 1) return this.#random.pick(free);
      await Promise.race(this.#busy.values());
    }
  }

  #duration(): number {
    return this.#random.between(SHORTEST_MS, this.#parts.longestMs);
  }

  #died(node: ClusterNode, cause: string, at = Date.now()): Death {
    const death: Death = { pid: node.server.pid, at, until: Infinity, cause };
    this.#parts.deaths.push(death);
    return death;
  }

  async #ready({ number, url }: ClusterNode): Promise<void> {
    const { health } = this.#parts;
    await until(() => health.isReady(number), `node ${number} (${url}) is not ready`);
  }

  async #someHealthy(): Promise<void> {
    const { health, nodes } = this.#parts;
    await until(() => nodes.some(({ number }) => health.isReady(number)), 'no node is ready');
  }

  async #allHealthy(): Promise<void> {
    for (const node of this.#parts.nodes) await this.#ready(node);
  }
}

/** A start takes seconds; the rest is tolerance for a busy machine. */
const READY_MS = 120_000;

async function until(holds: () => boolean, otherwise: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${otherwise} after ${READY_MS} ms`);
    await pause(50);
  }
}
