import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { NodesView } from '@patchboard/wire';
import type { PostgresVersion } from '../../packages/patchboard/test/services/postgres-binaries.ts';
import { openPostgresStore } from '../../packages/patchboard/src/wiring/open-store.ts';
import { checkStore, type StoreSummary } from './check-store.ts';
import { registerClientTools } from './client.ts';
import { readEffects } from './effects.ts';
import { FAILPOINTS } from './failpoints.ts';
import { FragileDatabase } from './fragile-database.ts';
import type { Exchange, Life } from './history.ts';
import { Load, type LoadFacts } from './load.ts';
import type { PlantedFault } from './planted-faults.ts';
import { POSTGRES_FAULTS, type PostgresFault } from './postgres-faults.ts';
import { SeededRandom } from './seeded-random.ts';
import { ServerApi } from './server-api.ts';
import { ServerProcess, type StartOptions } from './server-process.ts';

export interface PostgresLoopOptions {
  readonly folder: string;
  readonly version: PostgresVersion;
  /** In this order. */
  readonly faults: readonly PostgresFault[];
  readonly seed: number;
  readonly log: (line: string) => void;
  readonly planted?: PlantedFault | null;
}

interface PostgresLoopFacts extends LoadFacts {
  readonly faults: Readonly<Record<string, number>>;
  readonly serverKills: number;
  readonly databaseKills: number;
  readonly connectionsTerminated: number;
  /** The longest time from a database that accepts connections again to the next receipt. */
  readonly worstResumeMs: number;
  /** The longest time from the end of a server to the next receipt of its successor. */
  readonly worstTakeoverMs: number;
  readonly store: StoreSummary;
}

export interface PostgresLoopReport {
  readonly facts: Readonly<Record<string, unknown>> & PostgresLoopFacts;
  readonly violations: readonly string[];
  readonly exchanges: readonly Exchange[];
}

const OPERATOR_TOKEN = 'chaos-operator-token-0123456789abcdef';
/** If a failpoint is not reached in this time, the server is killed from outside. */
const PATIENCE_MS = 4000;
/** G18: work resumes in this time after the database is back. */
const RESUME_MS = 10_000;
/** Without a receipt for this long the scenario gives up. */
const STUCK_MS = 60_000;
/** Longer than the lease of a writer. */
const FROZEN_MS = 4000;
/** Longer than a request waits for the database. */
const AWAY_MS = 6000;
/** How much of a server's log a violation shows. */
const LOG_CHARACTERS = 2000;
/** A server that was replaced starts again within this time. */
const END_MS = 15_000;
/** A server that stands still is taken for dead after 3 to 4 seconds; the rest is tolerance for a busy machine. */
const DEAD_MS = 30_000;

/** Each fault once, then at random. */
export function faultsOf(count: number, seed: number): PostgresFault[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, index) => POSTGRES_FAULTS[index] ?? random.pick(POSTGRES_FAULTS));
}

/** Interrupts a real server and its PostgreSQL under load, then compares all observed responses with the store. */
export async function runPostgresLoop(options: PostgresLoopOptions): Promise<PostgresLoopReport> {
  const database = await FragileDatabase.start(options.version);
  const loop = new PostgresLoop(options, database);
  try {
    return await loop.run();
  } finally {
    await loop.destroy();
    await database.close();
  }
}

class PostgresLoop {
  readonly #options: PostgresLoopOptions;
  readonly #database: FragileDatabase;
  readonly #random: SeededRandom;
  readonly #load: Load;
  readonly #servers: ServerProcess[] = [];
  readonly #counts: Record<string, number> = {};
  #receipt: () => void = () => {};
  #life: Life | null = null;
  #serverKills = 0;
  #connectionsTerminated = 0;
  #worstResumeMs = 0;
  #worstTakeoverMs = 0;

  constructor(options: PostgresLoopOptions, database: FragileDatabase) {
    this.#options = options;
    this.#database = database;
    this.#random = new SeededRandom(options.seed);
    const onReceipt = (): void => this.#receipt();
    this.#load = new Load({ random: this.#random, isStoreMortal: true, onReceipt });
  }

  async run(): Promise<PostgresLoopReport> {
    const { faults, log } = this.#options;
    const first = await this.#serverOf(this.#start());
    await registerClientTools(first);
    this.#load.use(first);
    this.#beginLife();
    for (const [round, fault] of faults.entries()) {
      await this.#nextReceipt();
      await pause(this.#random.between(20, 900));
      this.#mustBeAlive(fault);
      await this.#suffer(fault);
      this.#counts[fault] = (this.#counts[fault] ?? 0) + 1;
      if ((round + 1) % 10 === 0) log(`${round + 1} faults, ${this.#load.requests} requests`);
    }
    await this.#nextReceipt();
    return await this.#settle();
  }

  async destroy(): Promise<void> {
    this.#load.end();
    await Promise.all(this.#servers.map((server) => server.destroy()));
  }

  async #suffer(fault: PostgresFault): Promise<void> {
    const random = this.#random;
    switch (fault) {
      case 'database killed':
        return await this.#withoutDatabase('kill', random.between(0, 500));
      case 'database stopped at once':
        return await this.#withoutDatabase('immediate', random.between(0, 500));
      case 'database restarted':
        return await this.#withoutDatabase('fast', 0);
      case 'database away':
        return await this.#withoutDatabase(random.pick(['kill', 'immediate', 'fast']), AWAY_MS);
      case 'connections terminated':
        this.#connectionsTerminated += await this.#database.terminateConnections(random);
        return await this.#mustResume(performance.now());
      case 'server killed':
        return await this.#killServer();
      case 'killed at a failpoint':
        return await this.#killAtFailpoint();
      case 'both killed':
        return await this.#killBoth();
      case 'server frozen':
        return await this.#freezeServer();
      case 'server replaced':
        return await this.#replaceServer();
    }
  }

  async #withoutDatabase(how: 'kill' | 'immediate' | 'fast', awayMs: number): Promise<void> {
    this.#endLife();
    await this.#database.stop(how);
    await pause(awayMs);
    await this.#database.start();
    this.#beginLife();
    await this.#mustResume(performance.now());
  }

  async #killServer(): Promise<void> {
    await this.#end(() => this.#server.kill());
    await this.#succeed();
  }

  async #killAtFailpoint(): Promise<void> {
    await this.#end(() => this.#server.kill());
    const failpoint = FAILPOINTS[(this.#counts['killed at a failpoint'] ?? 0) % FAILPOINTS.length] ?? null;
    const server = this.#start({ failpoint, hit: this.#random.between(1, 12) });
    this.#load.use(await this.#serverOf(server));
    this.#beginLife();
    await Promise.race([server.ended, pause(PATIENCE_MS, undefined, { ref: false })]);
    await this.#end(() => server.kill());
    await this.#succeed();
  }

  async #killBoth(): Promise<void> {
    await this.#end(() => this.#server.kill());
    await this.#database.stop('kill');
    await this.#database.start();
    await this.#succeed();
  }

  /** Without a successor it continues, though its heartbeat stood still for longer than the lease. */
  async #freezeServer(): Promise<void> {
    this.#endLife();
    this.#server.freeze();
    await pause(FROZEN_MS + this.#random.between(0, 1000));
    this.#server.wake();
    this.#beginLife();
    await this.#mustResume(performance.now());
  }

  /**
   * A successor takes over from a server that stands still, once it has taken it for dead: when that one goes on, it can write
   * nothing, and starts again in its process, as a second node. Then it is killed.
   */
  async #replaceServer(): Promise<void> {
    const replaced = this.#server;
    this.#endLife();
    replaced.freeze();
    // Woken before the first receipt: all agents may wait for its responses.
    await this.#succeed(async (successor) => {
      await this.#takenOver(successor);
      replaced.wake();
    });
    if (!(await replaced.restarts(END_MS)))
      this.#violated(
        `a replaced server ${replaced.hasEnded ? 'ended' : `did not start again in ${END_MS} ms`}:\n${replaced.stderr.slice(-LOG_CHARACTERS)}`,
      );
    await replaced.destroy();
  }

  /** Kills the server, or notes that a failpoint did. */
  async #end(kill: () => void): Promise<void> {
    const server = this.#server;
    kill();
    const { signal } = await server.ended;
    this.#endLife();
    this.#load.pause();
    this.#serverKills += 1;
    if (signal !== 'SIGKILL') this.#violated(`the server ended by itself:\n${server.stderr}`);
  }

  /** Resolves when no other node holds a writer. */
  async #takenOver(successor: ServerApi): Promise<void> {
    const deadline = performance.now() + DEAD_MS;
    for (;;) {
      const { body } = await successor.get('/v1/nodes');
      const { nodes } = body as unknown as NodesView;
      if (nodes.every((node) => node.is_self || node.state === 'free')) return;
      if (performance.now() > deadline)
        return this.#violated(
          `a server that stood still was not taken for dead in ${DEAD_MS} ms:\n${JSON.stringify(nodes)}`,
        );
      await pause(50);
    }
  }

  async #succeed(whenReady: (successor: ServerApi) => Promise<void> = async () => {}): Promise<void> {
    const since = performance.now();
    this.#load.pause();
    const api = await this.#serverOf(this.#start());
    this.#load.use(api);
    this.#beginLife();
    await whenReady(api);
    await this.#nextReceipt();
    this.#worstTakeoverMs = Math.max(this.#worstTakeoverMs, Math.round(performance.now() - since));
  }

  async #mustResume(since: number): Promise<void> {
    await this.#nextReceipt();
    const ms = Math.round(performance.now() - since);
    this.#worstResumeMs = Math.max(this.#worstResumeMs, ms);
    if (ms > RESUME_MS) this.#violated(`work resumed ${ms} ms after the database was back`);
  }

  async #nextReceipt(): Promise<void> {
    const received = new Promise<true>((resolve) => {
      this.#receipt = () => resolve(true);
    });
    const found = await Promise.race([received, pause(STUCK_MS, false, { ref: false }), this.#server.ended]);
    this.#receipt = () => {};
    if (found !== true)
      throw new Error(
        `no receipt in ${STUCK_MS} ms, ${this.#server.hasEnded ? 'the server ended' : 'the server runs'}:\n${this.#server.stderr}`,
      );
  }

  #mustBeAlive(fault: PostgresFault): void {
    if (this.#server.hasEnded)
      throw new Error(`the server ended by itself before "${fault}":\n${this.#server.stderr}`);
  }

  async #settle(): Promise<PostgresLoopReport> {
    const { history } = this.#load;
    const server = this.#server;
    await this.#load.settle(await this.#serverOf(server));
    server.terminate();
    const { code } = await server.ended;
    this.#endLife();
    if (code !== 0) this.#violated(`SIGTERM ended the server with code ${code}:\n${server.stderr}`);
    const { url } = this.#database;
    const open = () => openPostgresStore({ url, schema: 'patchboard', prepare: true }, undefined);
    const store = await checkStore(open, readEffects(this.#effectsFile), history);
    const facts: PostgresLoopFacts = {
      faults: this.#counts,
      serverKills: this.#serverKills,
      databaseKills: this.#database.kills,
      connectionsTerminated: this.#connectionsTerminated,
      worstResumeMs: this.#worstResumeMs,
      worstTakeoverMs: this.#worstTakeoverMs,
      ...this.#load.facts(),
      store,
    };
    return { facts: { ...facts }, violations: history.violations, exchanges: history.exchanges };
  }

  get #effectsFile(): string {
    return join(this.#options.folder, 'effects');
  }

  get #server(): ServerProcess {
    const server = this.#servers.at(-1);
    if (server === undefined) throw new Error('no server was started');
    return server;
  }

  #start(chaos: NonNullable<StartOptions['chaos']> = {}): ServerProcess {
    const { folder, planted = null } = this.#options;
    const server = ServerProcess.chaos({
      // Two servers run at the same time when one replaces the other.
      dataFolder: join(folder, `data-${this.#servers.length % 2}`),
      database: { url: this.#database.url, operatorToken: OPERATOR_TOKEN },
      chaos: { effectsFile: this.#effectsFile, planted, ...chaos },
    });
    this.#servers.push(server);
    return server;
  }

  async #serverOf(server: ServerProcess): Promise<ServerApi> {
    return new ServerApi(await server.mustBeReady(), OPERATOR_TOKEN);
  }

  #beginLife(): void {
    this.#life = { from: Date.now(), until: Infinity };
    this.#load.history.lives.push(this.#life);
  }

  #endLife(): void {
    if (this.#life !== null) this.#life.until = Date.now();
    this.#life = null;
  }

  #violated(violation: string): void {
    this.#load.history.violations.push(violation);
  }
}
