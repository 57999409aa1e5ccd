import { join } from 'node:path';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import { sqliteStore } from '../../packages/patchboard/src/store/sqlite/sqlite-store.ts';
import { checkStore, type StoreSummary } from './check-store.ts';
import { registerClientTools } from './client.ts';
import { readEffects } from './effects.ts';
import { FAILPOINTS, type FailpointName } from './failpoints.ts';
import type { Exchange } from './history.ts';
import { Load, type LoadFacts } from './load.ts';
import { SeededRandom } from './seeded-random.ts';
import { ServerApi } from './server-api.ts';
import { ServerProcess } from './server-process.ts';

export interface KillLoopOptions {
  readonly folder: string;
  readonly kills: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

interface KillLoopFacts extends LoadFacts {
  /** Kills by failpoint. */
  readonly kills: Readonly<Record<string, number>>;
  readonly store: StoreSummary;
}

export interface KillLoopReport {
  readonly facts: Readonly<Record<string, unknown>> & KillLoopFacts;
  readonly violations: readonly string[];
  readonly exchanges: readonly Exchange[];
}

/** If a failpoint is not reached in this time, the server is killed from outside. */
const PATIENCE_MS = 4000;

type Plan =
  | { readonly kind: 'random'; readonly afterMs: number }
  | { readonly kind: 'while starting'; readonly afterMs: number }
  | { readonly kind: 'after response'; readonly responses: number }
  /** Killed when there are more receipts than this; no time limit. */
  | { readonly kind: 'after receipts'; readonly receipts: number }
  | { readonly kind: 'failpoint'; readonly name: FailpointName; readonly hit: number };

/** Kills a real server repeatedly under load, then compares all observed responses with the store. */
export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopReport> {
  const loop = new KillLoop(options);
  try {
    return await loop.run();
  } finally {
    await loop.destroy();
  }
}

class KillLoop {
  readonly #options: KillLoopOptions;
  readonly #dataFolder: string;
  readonly #random: SeededRandom;
  readonly #load: Load;
  readonly #kills: Record<string, number> = {};
  #server: ServerProcess | null = null;
  /** Checked after each receipt. */
  #isTimeToKill: () => boolean = () => false;

  constructor(options: KillLoopOptions) {
    this.#options = options;
    this.#dataFolder = join(options.folder, 'data');
    this.#random = new SeededRandom(options.seed);
    this.#load = new Load({
      random: this.#random,
      isStoreMortal: false,
      onReceipt: () => {
        if (this.#isTimeToKill()) this.#server?.kill();
      },
    });
  }

  async run(): Promise<KillLoopReport> {
    const { kills, log } = this.#options;
    await this.#firstLife();
    for (let kill = 0; kill < kills; kill += 1) {
      await this.#liveAndDie(this.#plan(kill));
      if ((kill + 1) % 20 === 0) log(`${kill + 1} kills, ${this.#load.requests} requests`);
    }
    // On a slow machine most kills come before the first receipt, and a run without receipts tests nothing.
    if (this.#load.receipts <= kills) await this.#liveAndDie({ kind: 'after receipts', receipts: kills });
    return await this.#settle();
  }

  async destroy(): Promise<void> {
    this.#load.end();
    await this.#server?.destroy();
  }

  #plan(kill: number): Plan {
    const random = this.#random;
    // Every other kill uses the next failpoint, so that a short run covers all of them.
    const name = FAILPOINTS[(kill >> 1) % FAILPOINTS.length];
    if (kill % 2 === 1 && name !== undefined) return { kind: 'failpoint', name, hit: random.between(1, 12) };
    const choice = random.next();
    if (choice < 0.15) return { kind: 'while starting', afterMs: random.between(50, 900) };
    if (choice < 0.4) return { kind: 'after response', responses: random.between(1, 40) };
    return { kind: 'random', afterMs: random.between(20, 900) };
  }

  /** The only server that stops cleanly; its acknowledged registrations must survive. */
  async #firstLife(): Promise<void> {
    this.#server = ServerProcess.chaos({ dataFolder: this.#dataFolder });
    await registerClientTools(new ServerApi(await this.#server.mustBeReady()));
    this.#server.terminate();
    await this.#server.ended;
  }

  async #liveAndDie(plan: Plan): Promise<void> {
    const { history } = this.#load;
    const chaos = plan.kind === 'failpoint' ? { failpoint: plan.name, hit: plan.hit } : {};
    const server = ServerProcess.chaos({ dataFolder: this.#dataFolder, chaos });
    this.#server = server;
    const timers: NodeJS.Timeout[] = [];
    if (plan.kind === 'while starting') timers.push(setTimeout(() => server.kill(), plan.afterMs));
    const url = await server.ready();
    if (url !== null) {
      const life = { from: Date.now(), until: Infinity };
      history.lives.push(life);
      this.#isTimeToKill = this.#conditionOf(plan);
      this.#load.use(new ServerApi(url));
      if (plan.kind !== 'after receipts')
        timers.push(setTimeout(() => server.kill(), plan.kind === 'random' ? plan.afterMs : PATIENCE_MS));
      await server.ended;
      life.until = Date.now();
    }
    const { signal } = await server.ended;
    for (const timer of timers) clearTimeout(timer);
    this.#load.pause();
    const name = plan.kind === 'failpoint' ? plan.name : plan.kind;
    this.#kills[name] = (this.#kills[name] ?? 0) + 1;
    if (signal !== 'SIGKILL') history.violations.push(`the server ended by itself:\n${server.stderr}`);
  }

  #conditionOf(plan: Plan): () => boolean {
    if (plan.kind === 'after receipts') return () => this.#load.receipts > plan.receipts;
    if (plan.kind !== 'after response') return () => false;
    let left = plan.responses;
    return () => (left -= 1) <= 0;
  }

  async #settle(): Promise<KillLoopReport> {
    const { history } = this.#load;
    const server = ServerProcess.chaos({ dataFolder: this.#dataFolder });
    this.#server = server;
    const url = await server.mustBeReady();
    const life = { from: Date.now(), until: Infinity };
    history.lives.push(life);
    this.#isTimeToKill = () => false;
    await this.#load.settle(new ServerApi(url));
    server.terminate();
    const { code } = await server.ended;
    life.until = Date.now();
    if (code !== 0) history.violations.push(`SIGTERM ended the server with code ${code}:\n${server.stderr}`);
    const file = join(this.#dataFolder, 'patchboard.db');
    const effects = readEffects(`${this.#dataFolder}.effects`);
    const store = await checkStore(() => sqliteStore({ file, digest: nodeDigest }), effects, history);
    const facts: KillLoopFacts = { kills: this.#kills, ...this.#load.facts(), store };
    return { facts: { ...facts }, violations: history.violations, exchanges: history.exchanges };
  }
}
