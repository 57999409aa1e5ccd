import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Device } from '@patchboard/client';
import { startBalancer, type Balancer } from '../../packages/patchboard/test/services/balancer.ts';
import { startNats, type NatsService } from '../../packages/patchboard/test/services/nats.ts';
import { openPostgresStore } from '../../packages/patchboard/src/wiring/open-store.ts';
import { checkCluster, type ClusterSummary, type Death } from './check-cluster.ts';
import { busyNodes } from './busy-nodes.ts';
import { checkStore } from './check-store.ts';
import { registerClientTools } from './client.ts';
import { ClusterApi, stamp } from './cluster-api.ts';
import { clusterConfig } from './cluster-config.ts';
import { faultsForever, hasBus, type BusName, type ClusterFault } from './cluster-faults.ts';
import { ClusterHealth } from './cluster-health.ts';
import { ClusterInjector } from './cluster-injector.ts';
import type { ClusterLoopFacts, ClusterLoopOptions, ClusterLoopReport } from './cluster-loop-types.ts';
import { ClusterNode } from './cluster-node.ts';
import { effectsIn, readEffects } from './effects.ts';
import { EventFollower } from './event-follower.ts';
import { FragileDatabase } from './fragile-database.ts';
import { textOf } from './http.ts';
import { Load } from './load.ts';
import { startLoadDevice } from './load-device.ts';
import { SeededRandom } from './seeded-random.ts';
import type { Ended } from './server-process.ts';

const OPERATOR_TOKEN = 'chaos-operator-token-0123456789abcdef';
const SCHEMA = 'patchboard';
const NODES = 3;
const LONGEST_MS = 20_000;
/** Bounds that several nodes promise. */
const TAKEOVER_MS = 5000;
const DEADLINE_MS = 1000;
const WAIT_MS = 2000;
/** How much of a server's log a violation shows. */
const LOG_CHARACTERS = 1500;
/** Without progress for this long the scenario gives up. */
const STUCK_MS = 60_000;
const QUIET_MS = 15_000;

/** Interrupts several real nodes, their database and their bus under load, then compares all that was observed with the store. */
export async function runClusterLoop(options: ClusterLoopOptions): Promise<ClusterLoopReport> {
  const loop = new ClusterLoop(options);
  try {
    await loop.open();
    return await loop.run();
  } catch (error) {
    loop.tellViolations();
    throw error;
  } finally {
    await loop.destroy();
  }
}

class ClusterLoop {
  readonly #options: ClusterLoopOptions;
  readonly #random: SeededRandom;
  readonly #load: Load;
  readonly #nodes: ClusterNode[] = [];
  readonly #deaths: Death[] = [];
  readonly #closing: (() => Promise<void> | void)[] = [];
  #database!: FragileDatabase;
  #nats!: NatsService;
  #balancer!: Balancer;
  #api!: ClusterApi;
  #health!: ClusterHealth;
  #injector!: ClusterInjector;
  #device!: Device;
  #follower!: EventFollower;
  #bus: BusName;
  #exits = 0;
  #receipts = 0;
  #told = 0;

  constructor(options: ClusterLoopOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
    this.#bus = options.buses[0] ?? 'postgres';
    this.#load = new Load({
      random: this.#random,
      isStoreMortal: true,
      onReceipt: () => (this.#receipts += 1),
      moreKinds: ['approve', 'approve', 'device', 'device'],
    });
  }

  /** Starts everything. */
  async open(): Promise<void> {
    const { folder, version, nodes = NODES, longestMs = LONGEST_MS, toleranceMs = 0 } = this.#options;
    const { history } = this.#load;
    this.#closing.push(() => this.#load.end());
    this.#database = await this.#own(await FragileDatabase.start(version));
    this.#nats = await this.#own(await startNats());
    this.#balancer = await this.#own(await startBalancer());
    const configFile = join(folder, 'config.yaml');
    writeFileSync(configFile, clusterConfig(this.#balancer.host));
    for (let number = 0; number < nodes; number += 1) this.#nodes.push(await this.#node(number, configFile));
    const isReady = (node: number): boolean => this.#balancer.isReady(this.#nodes[node]?.url ?? '');
    this.#health = new ClusterHealth({ nodes, isReady });
    this.#closing.push(() => this.#health.stop());
    this.#api = new ClusterApi({
      balancerUrl: this.#balancer.url,
      nodes: () => this.#nodes.map(({ url }) => url),
      operatorToken: OPERATOR_TOKEN,
      random: this.#random.fork(),
      violations: history.violations,
      isMachineBusy: toleranceMs > 0,
    });
    this.#injector = new ClusterInjector({
      nodes: this.#nodes,
      database: this.#database,
      nats: this.#nats,
      health: this.#health,
      api: this.#api,
      random: this.#random.fork(),
      longestMs,
      deaths: this.#deaths,
      violated: (text) => this.#violated(text),
    });
  }

  async run(): Promise<ClusterLoopReport> {
    const { history } = this.#load;
    await Promise.all(this.#nodes.map((node) => node.start()));
    await registerClientTools(this.#api);
    const created = await this.#api.post('/v1/keys', { kind: 'agent', name: 'chaos' });
    if (created.status !== 201) throw new Error(`no key for the agents: ${textOf(created)}`);
    this.#api.agentKey = String(created.body['key']);
    this.#device = startLoadDevice({
      url: this.#balancer.url,
      key: OPERATOR_TOKEN,
      history,
      recordEffect: effectsIn(this.#effectsFile),
    });
    this.#closing.push(() => this.#device.close());
    await this.#device.ready;
    this.#follower = new EventFollower(this.#api, this.#random.fork(), history.violations);
    this.#closing.push(() => this.#follower.end());
    this.#load.use(this.#api);
    for (const bus of this.#options.buses) {
      await this.#useBus(bus);
      for await (const fault of this.#faults(bus)) await this.#injector.inject(fault);
      await this.#injector.quiet();
    }
    return await this.#settle();
  }

  async destroy(): Promise<void> {
    for (const close of this.#closing.toReversed()) await close();
  }

  /** Waits a moment, and for progress, before each fault. */
  async *#faults(bus: BusName): AsyncGenerator<ClusterFault> {
    const { faults, buses, log } = this.#options;
    const until = performance.now() + ('ms' in faults ? faults.ms / buses.length : Infinity);
    const given =
      'length' in faults ? faults.filter((one) => hasBus(one, bus)) : faultsForever(bus, this.#random.fork());
    const most = 'rounds' in faults ? faults.rounds : Infinity;
    let round = 0;
    for (const fault of given) {
      this.tellViolations();
      if (round >= most || performance.now() > until) return;
      await this.#progress();
      await pause(this.#random.between(200, 3000));
      log(`${stamp()} ${fault} · ${this.#load.requests} requests, ${this.#told} violations`);
      yield fault;
      round += 1;
    }
  }

  /** Those that were not told yet: a long run shows them when they are found. */
  tellViolations(): void {
    const { violations } = this.#load.history;
    for (; this.#told < violations.length; this.#told += 1) this.#options.log(`✗ ${violations[this.#told]}`);
  }

  async #progress(): Promise<void> {
    const receipts = this.#receipts;
    const deadline = performance.now() + STUCK_MS;
    while (this.#receipts === receipts) {
      if (performance.now() > deadline) throw new Error(`no receipt in ${STUCK_MS} ms:\n${this.#logs()}`);
      await pause(50);
    }
  }

  /** Stops all nodes and starts them with another bus. */
  async #useBus(bus: BusName): Promise<void> {
    if (bus === this.#bus) return;
    this.#bus = bus;
    const recovered = this.#health.disturb(this.#nodes.map(({ number }) => number));
    await Promise.all(this.#nodes.map((node) => node.terminate()));
    await Promise.all(this.#nodes.map((node) => node.start()));
    recovered();
  }

  async #settle(): Promise<ClusterLoopReport> {
    await this.#load.settle(this.#api);
    for (const problem of await busyNodes(this.#nodes, OPERATOR_TOKEN, QUIET_MS)) this.#violated(problem);
    const { body } = await this.#api.get('/v1/ledger?order=desc&limit=1');
    const [row] = (body['rows'] ?? []) as { seq: number }[];
    await this.#follower.until(row?.seq ?? 0, QUIET_MS);
    await this.#follower.end();
    await this.#device.close();
    this.#health.stop();
    const ends = await Promise.all(this.#nodes.map((node) => node.terminate()));
    for (const [index, { code }] of ends.entries())
      if (code !== 0) this.#violated(`SIGTERM ended node ${index} with code ${code}:\n${this.#logOf(index)}`);
    this.#load.history.lives.push(...this.#health.lives());
    return await this.#check();
  }

  async #check(): Promise<ClusterLoopReport> {
    const { history } = this.#load;
    const { toleranceMs = 0 } = this.#options;
    const { url } = this.#database;
    const open = () => openPostgresStore({ url, schema: SCHEMA, prepare: true }, undefined);
    const effects = readEffects(this.#effectsFile);
    const { stored, ended } = await this.#database.commitTimes(SCHEMA);
    let cluster: ClusterSummary | null = null;
    const store = await checkStore(open, effects, history, {
      latenessMs: DEADLINE_MS + toleranceMs,
      storedAt: stored,
      also: (calls, rows) => {
        this.#follower.check(rows);
        const bounds = { takeoverMs: TAKEOVER_MS + toleranceMs, waitMs: WAIT_MS + toleranceMs };
        const { failures } = this.#api;
        const deaths = this.#deaths;
        const takeovers = this.#nodes.flatMap((node) => node.takeovers);
        const health = this.#health;
        cluster = checkCluster({
          calls,
          effects,
          history,
          health,
          deaths,
          takeovers,
          failures,
          bounds,
          endCommittedAt: ended,
        });
      },
    });
    if (cluster === null) throw new Error('the store was not checked');
    const count = (event: string): number => this.#nodes.reduce((sum, node) => sum + node.logged(event), 0);
    const facts: ClusterLoopFacts & Readonly<Record<string, unknown>> = {
      faults: this.#injector.counts,
      starts: this.#nodes.reduce((sum, { starts }) => sum + starts, 0),
      exits: this.#exits,
      takeovers: count('cluster.took_over'),
      fences: count('server.restarting'),
      databaseKills: this.#database.kills,
      worstResumeMs: this.#injector.worstResumeMs,
      rollingRequests: this.#api.strictRequests,
      ...this.#load.facts(),
      events: this.#follower.facts,
      cluster,
      store,
    };
    const events = [...this.#nodes.flatMap((node) => node.events), ...this.#health.lines()];
    return { facts, violations: history.violations, exchanges: history.exchanges, events };
  }

  async #node(number: number, configFile: string): Promise<ClusterNode> {
    const { folder, planted = null } = this.#options;
    const node = await ClusterNode.create({
      number,
      folder,
      configFile,
      effectsFile: this.#effectsFile,
      databaseUrl: this.#database.url,
      natsPort: this.#nats.port,
      operatorToken: OPERATOR_TOKEN,
      planted,
      bus: () => this.#bus,
      onExit: (exited, end, stderr) => this.#exited(exited, end, stderr),
      onFailure: (error) => this.#violated(String(error)),
      onUrl: async (before, url) => {
        if (before !== null) this.#balancer.remove(before);
        if (url !== null) await this.#balancer.add(url);
      },
    });
    this.#closing.push(() => node.destroy());
    return node;
  }

  #exited(node: ClusterNode, { code, signal }: Ended, stderr: string): void {
    this.#exits += 1;
    this.#violated(
      `node ${node.number} ended by itself (${code ?? signal}):\n${stderr.slice(-LOG_CHARACTERS)}`,
    );
    node.start().catch((error: unknown) => this.#violated(String(error)));
  }

  async #own<T extends { close(): Promise<void> }>(service: T): Promise<T> {
    this.#closing.push(() => service.close());
    return service;
  }

  get #effectsFile(): string {
    return join(this.#options.folder, 'effects');
  }

  #logOf(index: number): string {
    return this.#nodes[index]?.server.stderr.slice(-LOG_CHARACTERS) ?? '';
  }

  #logs(): string {
    return this.#nodes.map((_, index) => `node ${index}: ${this.#logOf(index)}`).join('\n');
  }

  #violated(violation: string): void {
    this.#load.history.violations.push(`${stamp()} ${violation}`);
  }
}
