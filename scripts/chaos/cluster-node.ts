import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startProxy, type PostgresProxy } from '../../packages/patchboard/test/services/proxy.ts';
import { aDroppingProxy, type DroppingProxy } from './dropping-proxy.ts';
import type { Takeover } from './check-cluster.ts';
import type { BusName } from './cluster-faults.ts';
import type { FailpointName } from './failpoints.ts';
import type { PlantedFault } from './planted-faults.ts';
import { ServerProcess, type Ended } from './server-process.ts';

const SKEWED_CLOCK = new URL('./skewed-clock.ts', import.meta.url).href;
/** A start fails while the database is away; its supervisor tries again. */
const START_MS = 90_000;
const RETRY_MS = 250;

export interface ClusterNodeParts {
  readonly number: number;
  readonly folder: string;
  readonly configFile: string;
  readonly effectsFile: string;
  readonly databaseUrl: string;
  readonly natsPort: number;
  readonly operatorToken: string;
  readonly planted: PlantedFault | null;
  readonly bus: () => BusName;
  /** The process ended though nothing ended it. */
  readonly onExit: (node: ClusterNode, end: Ended, stderr: string) => void;
  readonly onFailure: (error: unknown) => void;
  readonly onUrl: (before: string | null, url: string | null) => Promise<void>;
}

export interface NodeStart {
  readonly failpoint?: FailpointName;
  readonly hit?: number;
  /** By how much its wall clock is wrong. */
  readonly clockMs?: number;
}

/** One of several servers, its links to PostgreSQL and to NATS, and the processes that it had. */
export class ClusterNode {
  readonly number: number;
  /** Between the node and PostgreSQL. */
  readonly link: PostgresProxy;
  /** Between the node and NATS. */
  readonly natsLink: DroppingProxy;
  readonly #parts: ClusterNodeParts;
  readonly #servers: ServerProcess[] = [];
  #url: string | null = null;
  /** Its end is expected. */
  #isEnding = false;

  private constructor(parts: ClusterNodeParts, link: PostgresProxy, natsLink: DroppingProxy) {
    this.#parts = parts;
    this.number = parts.number;
    this.link = link;
    this.natsLink = natsLink;
  }

  static async create(parts: ClusterNodeParts): Promise<ClusterNode> {
    const link = await startProxy(parts.databaseUrl);
    return new ClusterNode(parts, link, await aDroppingProxy(() => parts.natsPort));
  }

  /** Null while it has not started. */
  get url(): string | null {
    return this.#url;
  }

  get server(): ServerProcess {
    const server = this.#servers.at(-1);
    if (server === undefined) throw new Error('no server was started');
    return server;
  }

  get starts(): number {
    return this.#servers.length;
  }

  /** How often its processes logged the event. */
  logged(event: string): number {
    return this.#servers.reduce((sum, server) => sum + server.logged(event), 0);
  }

  /** What its processes logged about themselves, in order. */
  get events(): readonly string[] {
    return this.#servers.flatMap(({ pid, events }) =>
      events.map((line) => `node ${this.number} (${pid}) ${line}`),
    );
  }

  /** What its processes took over. */
  get takeovers(): readonly Takeover[] {
    return this.#servers.flatMap(({ pid, takeovers }) =>
      takeovers.map((one) => ({ ...one, pid, node: this.number })),
    );
  }

  /** Resolves when it is ready, or has ended by its failpoint. */
  async start(given: NodeStart = {}): Promise<void> {
    const deadline = performance.now() + START_MS;
    for (;;) {
      const server = this.#spawn(given);
      this.#isEnding = given.failpoint !== undefined;
      const url = await server.ready();
      if (url !== null) {
        this.#guard(server).catch((error: unknown) => this.#parts.onFailure(error));
        return await this.#use(url);
      }
      if (this.#isEnding) return;
      if (performance.now() > deadline) throw new Error(`node ${this.number}: ${server.stderr}`);
      await pause(RETRY_MS);
    }
  }

  /** Ends the process with SIGKILL, if it has not ended. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.server.kill();
    await this.server.ended;
    await this.#use(null);
  }

  /** Ends the process with SIGTERM. */
  async terminate(): Promise<Ended> {
    this.#isEnding = true;
    this.server.terminate();
    const end = await this.server.ended;
    await this.#use(null);
    return end;
  }

  async destroy(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#servers.map((server) => server.destroy()));
    await Promise.all([this.link.close(), this.natsLink.close()]);
  }

  #spawn({ failpoint, hit = 1, clockMs = 0 }: NodeStart): ServerProcess {
    const { folder, configFile, effectsFile, databaseUrl, operatorToken, planted, bus } = this.#parts;
    const natsUrl = this.natsLink.url.replace('http:', 'nats:');
    const server = ServerProcess.chaos({
      dataFolder: join(folder, `data-${this.number}`),
      configFile,
      database: { url: this.link.through(databaseUrl), operatorToken },
      ...(bus() === 'nats' ? { natsUrl } : {}),
      nodeArgs: clockMs === 0 ? [] : ['--import', `${SKEWED_CLOCK}?ms=${clockMs}`],
      chaos: { effectsFile, planted, failpoint: failpoint ?? null, hit },
    });
    this.#servers.push(server);
    return server;
  }

  /** Reports the end of a process that nothing has ended. */
  async #guard(server: ServerProcess): Promise<void> {
    const end = await server.ended;
    if (this.#isEnding || this.server !== server) return;
    await this.#use(null);
    this.#parts.onExit(this, end, server.stderr);
  }

  async #use(url: string | null): Promise<void> {
    const before = this.#url;
    this.#url = url;
    await this.#parts.onUrl(before, url);
  }
}
