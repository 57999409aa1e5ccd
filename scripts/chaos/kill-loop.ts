import { join } from 'node:path';
import type { CallView } from '@patchboard/wire';
import { runAgent } from './agent.ts';
import { checkStore, type StoreSummary } from './check-store.ts';
import { ChaosClient, registerClientTools } from './client.ts';
import { FAILPOINTS, type FailpointName } from './failpoints.ts';
import { History } from './history.ts';
import { get, post } from './http.ts';
import { ServerAddress } from './server-address.ts';
import { TOOLS } from './pack.ts';
import { SeededRandom } from './seeded-random.ts';
import { ServerProcess } from './server-process.ts';

export interface KillLoopOptions {
  readonly folder: string;
  readonly kills: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface KillLoopFacts {
  /** Kills by failpoint. */
  readonly kills: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly acknowledged: number;
  /** Requests without a response because the server was killed. */
  readonly inDoubt: number;
  readonly submissionsAccepted: number;
  readonly submissionsRepeated: number;
  readonly submissionsRefused: number;
  readonly responses: Readonly<Record<string, number>>;
  readonly store: StoreSummary;
}

export interface KillLoopReport {
  readonly facts: Readonly<Record<string, unknown>> & KillLoopFacts;
  readonly violations: readonly string[];
}

const AGENTS = 8;
/** If a failpoint is not reached in this time, the server is killed from outside. */
const PATIENCE_MS = 4000;
/** Longer than the timeouts of client tools. */
const SETTLE_MS = 60_000;

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
  readonly #history = new History();
  readonly #agentAddress = new ServerAddress();
  readonly #clientAddress = new ServerAddress();
  readonly #kills: Record<string, number> = {};
  #server: ServerProcess | null = null;
  #requests = 0;
  /** Checked after each receipt. */
  #isTimeToKill: () => boolean = () => false;

  constructor(options: KillLoopOptions) {
    this.#options = options;
    this.#dataFolder = join(options.folder, 'data');
    this.#random = new SeededRandom(options.seed);
  }

  async run(): Promise<KillLoopReport> {
    const { kills, log } = this.#options;
    const agents = Array.from({ length: AGENTS }, () => runAgent(this.#agentParts(), this.#random.fork()));
    const client = new ChaosClient(this.#history, this.#clientAddress, this.#random.fork());
    const serving = client.run();
    await this.#firstLife();
    for (let kill = 0; kill < kills; kill += 1) {
      await this.#liveAndDie(this.#plan(kill));
      if ((kill + 1) % 20 === 0) log(`${kill + 1} kills, ${this.#requests} requests`);
    }
    // On a slow machine most kills come before the first receipt, and a run without receipts tests nothing.
    if (this.#receipts() <= kills) await this.#liveAndDie({ kind: 'after receipts', receipts: kills });
    return await this.#settle(agents, client, serving);
  }

  async destroy(): Promise<void> {
    this.#agentAddress.end();
    this.#clientAddress.end();
    await this.#server?.destroy();
  }

  #agentParts(): Parameters<typeof runAgent>[0] {
    return {
      history: this.#history,
      address: this.#agentAddress,
      nextNumber: () => (this.#requests += 1),
      onReceipt: () => {
        if (this.#isTimeToKill()) this.#server?.kill();
      },
    };
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
    await registerClientTools(await this.#server.mustBeReady());
    this.#server.terminate();
    await this.#server.ended;
  }

  async #liveAndDie(plan: Plan): Promise<void> {
    const chaos = plan.kind === 'failpoint' ? { failpoint: plan.name, hit: plan.hit } : {};
    const server = ServerProcess.chaos({ dataFolder: this.#dataFolder, chaos });
    this.#server = server;
    const timers: NodeJS.Timeout[] = [];
    if (plan.kind === 'while starting') timers.push(setTimeout(() => server.kill(), plan.afterMs));
    const url = await server.ready();
    if (url !== null) {
      const life = { from: Date.now(), until: Infinity };
      this.#history.lives.push(life);
      this.#isTimeToKill = this.#conditionOf(plan);
      this.#setAddress(url);
      if (plan.kind !== 'after receipts')
        timers.push(setTimeout(() => server.kill(), plan.kind === 'random' ? plan.afterMs : PATIENCE_MS));
      await server.ended;
      life.until = Date.now();
    }
    const { signal } = await server.ended;
    for (const timer of timers) clearTimeout(timer);
    this.#agentAddress.clear();
    this.#clientAddress.clear();
    const name = plan.kind === 'failpoint' ? plan.name : plan.kind;
    this.#kills[name] = (this.#kills[name] ?? 0) + 1;
    if (signal !== 'SIGKILL') this.#history.violations.push(`the server ended by itself:\n${server.stderr}`);
  }

  #conditionOf(plan: Plan): () => boolean {
    if (plan.kind === 'after receipts') return () => this.#receipts() > plan.receipts;
    if (plan.kind !== 'after response') return () => false;
    let left = plan.responses;
    return () => (left -= 1) <= 0;
  }

  async #settle(
    agents: readonly Promise<void>[],
    client: ChaosClient,
    serving: Promise<void>,
  ): Promise<KillLoopReport> {
    const server = ServerProcess.chaos({ dataFolder: this.#dataFolder });
    this.#server = server;
    const url = await server.mustBeReady();
    const life = { from: Date.now(), until: Infinity };
    this.#history.lives.push(life);
    this.#isTimeToKill = () => false;
    this.#setAddress(url);
    this.#agentAddress.end();
    await Promise.all(agents);
    await this.#postTogether(url);
    await this.#untilAllEnded(url);
    for (const id of this.#history.acknowledged()) await this.#mustBeThere(url, id);
    client.hangUp();
    this.#clientAddress.end();
    await serving;
    server.terminate();
    const { code } = await server.ended;
    life.until = Date.now();
    if (code !== 0)
      this.#history.violations.push(`SIGTERM ended the server with code ${code}:\n${server.stderr}`);
    const store = await checkStore(
      join(this.#dataFolder, 'patchboard.db'),
      `${this.#dataFolder}.effects`,
      this.#history,
    );
    return this.#report(store);
  }

  /** G2: a hundred posts with one key at the same time are one call. */
  async #postTogether(url: string): Promise<void> {
    const n = (this.#requests += 1);
    const invocation = { n, kind: 'keyed' as const, acknowledged: new Set<string>(), sent: 100 };
    this.#history.invocations.set(n, invocation);
    const body = { run_id: `run_${n}`, args: { n, ms: 1 } };
    const headers = { 'idempotency-key': `key-${n}` };
    const invoke = `${url}/v1/tools/${TOOLS.effect}/invoke`;
    const responses = await Promise.all(Array.from({ length: 100 }, () => post(invoke, body, { headers })));
    for (const response of responses) invocation.acknowledged.add(String(response.body['tool_call_id']));
    const other = await post(invoke, { ...body, args: { n, ms: 2 } }, { headers });
    if (other.status !== 422)
      this.#history.violations.push(`another body under the same key got ${other.status}`);
  }

  async #untilAllEnded(url: string): Promise<void> {
    const deadline = Date.now() + SETTLE_MS;
    for (;;) {
      const open = await Promise.all(
        ['PENDING', 'RUNNING'].map(async (status) => {
          const { body } = await get(`${url}/v1/tool_calls?status=${status}&limit=200`);
          return body['tool_calls'] as CallView[];
        }),
      );
      const left = open.flat();
      if (left.length === 0) return;
      await Promise.all(left.map((call) => this.#giveInput(url, call)));
      if (Date.now() > deadline) {
        const names = left.map((call) => `${call.tool_call_id} (${call.tool_name}, ${call.state})`);
        this.#history.violations.push(`still open after ${SETTLE_MS} ms: ${names.join(', ')}`);
        return;
      }
      await new Promise<void>((resolve) => setTimeout(resolve, 100));
    }
  }

  async #giveInput(url: string, { tool_call_id: id, input_request: request }: CallView): Promise<void> {
    if (request === undefined) return;
    const { status } = await post(`${url}/v1/tool_calls/${id}/input`, { id: request.id, content: 7 });
    if (status === 200) this.#history.inputTaken(id, request.id, 7);
    else if (status !== 409) this.#history.violations.push(`input for ${id} got ${status} at the end`);
  }

  async #mustBeThere(url: string, id: string): Promise<void> {
    const { status, body } = await get(`${url}/v1/tool_calls/${id}`);
    if (status === 200) this.#history.sawCall(body as unknown as CallView);
    else this.#history.violations.push(`${id} was acknowledged, and reading it at the end got ${status}`);
  }

  #receipts(): number {
    return new Set(this.#history.acknowledged()).size;
  }

  #setAddress(url: string): void {
    this.#agentAddress.set(url);
    this.#clientAddress.set(url);
  }

  #report(store: StoreSummary): KillLoopReport {
    const { invocations, submissions, responses, violations } = this.#history;
    const all = [...submissions.values()];
    const facts: KillLoopFacts = {
      kills: this.#kills,
      requests: invocations.size,
      acknowledged: this.#receipts(),
      inDoubt: [...invocations.values()].filter((one) => one.sent > 0 && one.acknowledged.size === 0).length,
      submissionsAccepted: all.reduce((sum, one) => sum + one.accepted.size, 0),
      submissionsRepeated: all.reduce((sum, one) => sum + one.repeated, 0),
      submissionsRefused: all.reduce((sum, one) => sum + one.conflicts, 0),
      responses: Object.fromEntries(responses),
      store,
    };
    return { facts: { ...facts }, violations };
  }
}
