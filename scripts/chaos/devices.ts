import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallView } from '@patchboard/wire';
import { DeviceProcess } from './device-process.ts';
import type { DeviceTrace } from './device-worker.ts';
import { get, orGone, post } from './http.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { SeededRandom } from './seeded-random.ts';
import { ServerProcess } from './server-process.ts';
import { aSwallowingProxy, type SwallowingProxy } from './swallowing-proxy.ts';

export interface DevicesOptions {
  readonly folder: string;
  /** Calls that are disturbed. */
  readonly loops: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

const LANES = 3;
const HEARTBEAT_MS = 100;
const GRACE_MS = 3000;
const TIMEOUT_MS = 20_000;
/** A call that has not ended by its time limit and this much more, on a machine that runs tests beside it. */
const BOUND_MS = TIMEOUT_MS + 15_000;

/** Where in the life of a call it happens. */
const STEPS = ['asked', 'begun', 'returning', 'acknowledged'] as const;
/** What happens. */
const BLOWS = [
  'device killed',
  'device stopped',
  'server killed',
  'server stopped',
  'wire swallows up',
  'wire swallows down',
  'wire swallows both',
  'wire cut',
] as const;

type Step = (typeof STEPS)[number];
type Blow = (typeof BLOWS)[number];

/** Every blow at every step, as often as it takes; the rare and slow ones less often. */
function planOf(loops: number, random: SeededRandom): { step: Step; blow: Blow }[] {
  const all = STEPS.flatMap((step) => BLOWS.map((blow) => ({ step, blow })));
  const quick = all.filter(({ blow }) => !blow.startsWith('server') && blow !== 'device killed');
  const plan = all.slice(0, loops);
  while (plan.length < loops) plan.push(random.chance(0.2) ? random.pick(all) : random.pick(quick));
  return plan;
}

/** A device with its own wire to the server. */
interface Lane {
  readonly tool: string;
  readonly device: DeviceProcess;
  readonly wire: SwallowingProxy;
}

/** Disturbs devices, wires and the server at every step of a call, and compares what was promised with what was kept. */
export async function runDevices(options: DevicesOptions): Promise<ScenarioReport> {
  const scene = new DeviceScene(options);
  try {
    return await scene.run();
  } finally {
    await scene.destroy();
  }
}

class DeviceScene {
  readonly #options: DevicesOptions;
  readonly #dataFolder: string;
  readonly #configFile: string;
  readonly #lanes: Lane[] = [];
  /** What was asked for, and what was done to it. */
  readonly #calls: Map<string, { readonly n: number; readonly blow: string }> = new Map();
  readonly #findings = new Findings();
  readonly #blows: Record<string, number> = {};
  #server: ServerProcess | null = null;
  #url = '';
  /** Only one lane restarts the server at a time; the others wait for it. */
  #restarting: Promise<void> = Promise.resolve();
  #number = 0;

  constructor(options: DevicesOptions) {
    this.#options = options;
    this.#dataFolder = join(options.folder, 'data');
    this.#configFile = join(options.folder, 'config.json');
  }

  async run(): Promise<ScenarioReport> {
    const limits = { device_heartbeat_ms: HEARTBEAT_MS, device_grace_ms: GRACE_MS };
    writeFileSync(this.#configFile, JSON.stringify({ http: { allowed_hosts: ['127.0.0.1'] }, limits }));
    await this.#startServer();
    const { loops, seed } = this.#options;
    const plan = planOf(loops, new SeededRandom(seed));
    await Promise.all(Array.from({ length: Math.min(LANES, loops) }, (_, lane) => this.#runLane(lane, plan)));
    const views = await this.#endings();
    const traces = this.#lanes.flatMap(({ tool }) => this.#tracesOf(tool));
    this.#judge(views, traces);
    await this.#checkLedger();
    return {
      facts: {
        calls: this.#calls.size,
        blows: this.#blows,
        executions: traces.filter(({ kind }) => kind === 'ran').length,
        endings: countBy(views, (view) => view.error?.code ?? view.state),
        'not completed': countBy(
          views.filter(({ state }) => state !== 'COMPLETED'),
          (view) => `${this.#calls.get(view.tool_call_id)?.blow ?? ''}: ${view.error?.code ?? ''}`,
        ),
      },
      violations: this.#findings.violations,
    };
  }

  async destroy(): Promise<void> {
    await Promise.all(
      this.#lanes.map(async ({ device, wire }) => [await device.destroy(), await wire.close()]),
    );
    await this.#server?.destroy();
  }

  async #runLane(index: number, plan: { step: Step; blow: Blow }[]): Promise<void> {
    const tool = `lane${index}.work`;
    const wire = await aSwallowingProxy(() => Number(new URL(this.#url).port));
    const { folder } = this.#options;
    const device = new DeviceProcess({
      url: wire.url,
      tool,
      timeoutMs: TIMEOUT_MS,
      effectsFile: join(folder, `${tool}.effects`),
      outboxFile: join(folder, `${tool}.outbox`),
    });
    const lane = { tool, device, wire };
    this.#lanes.push(lane);
    for (;;) {
      const next = plan.shift();
      if (next === undefined) return;
      await this.#disturbOne(lane, next.step, next.blow);
      if (plan.length > 0 && plan.length % 100 === 0) this.#options.say(`${plan.length} to go`);
    }
  }

  /** One call with one blow at one step. What became of it is looked at in the end. */
  async #disturbOne(lane: Lane, step: Step, blow: Blow): Promise<void> {
    const { device, tool } = lane;
    const n = (this.#number += 1);
    if (!(await this.#untilOffered(tool))) return;
    const begun = device.says('begun', n);
    const returning = device.says('returning', n);
    const acknowledged = device.says('acknowledged', n);
    const id = await this.#ask(tool, n);
    if (id === null) return;
    this.#calls.set(id, { n, blow: `${blow}, ${step}` });
    const reached = async (event: Promise<void>): Promise<void> => {
      await Promise.race([event, sleep(TIMEOUT_MS)]);
    };
    if (step !== 'asked') await reached(begun);
    if (step === 'begun' || step === 'asked') {
      await this.#strike(lane, blow);
      // A device that was killed begins nothing more; one that comes back goes on.
      await Promise.race([begun, sleep(50)]);
      device.finish(n);
    } else {
      device.finish(n);
      await reached(step === 'returning' ? returning : acknowledged);
      await this.#strike(lane, blow);
    }
    // It may not have begun before the blow: then it does now, or never.
    const late = begun.then(() => device.finish(n));
    await Promise.race([this.#ended(id), late.then(() => this.#ended(id))]);
  }

  async #strike({ device, wire }: Lane, blow: Blow): Promise<void> {
    this.#blows[blow] = (this.#blows[blow] ?? 0) + 1;
    switch (blow) {
      case 'device killed':
        return await device.restart();
      case 'device stopped':
        device.stop();
        await sleep(HEARTBEAT_MS * 4);
        return device.goOn();
      case 'server killed':
        return await this.#inTurn(async () => {
          this.#server?.kill();
          await this.#server?.ended;
          await this.#startServer();
        });
      case 'server stopped':
        return await this.#inTurn(async () => {
          process.kill(this.#server?.pid ?? 0, 'SIGSTOP');
          await sleep(HEARTBEAT_MS * 4);
          process.kill(this.#server?.pid ?? 0, 'SIGCONT');
        });
      case 'wire cut':
        return wire.cut();
      default:
        wire.swallow(blow === 'wire swallows up' ? 'up' : blow === 'wire swallows down' ? 'down' : 'both');
        await sleep(HEARTBEAT_MS * 4);
        return wire.restore();
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#restarting.then(work);
    this.#restarting = turn.catch(() => undefined);
    await turn;
  }

  async #startServer(): Promise<void> {
    this.#server = ServerProcess.shipped({ dataFolder: this.#dataFolder, configFile: this.#configFile });
    this.#url = await this.#server.mustBeReady();
  }

  /** False: it never came back, which is a promise broken. */
  async #untilOffered(tool: string): Promise<boolean> {
    let until = Date.now() + BOUND_MS;
    for (;;) {
      const answer = await orGone(get(`${this.#url}/v1/tools/${tool}`));
      // A server that is starting takes nobody in.
      if (answer === null) until = Date.now() + BOUND_MS;
      if (answer?.status === 200) return true;
      if (Date.now() > until) {
        const problems = join(this.#options.folder, `${tool}.effects.problems`);
        const said = existsSync(problems) ? readFileSync(problems, 'utf8').trim().split('\n').slice(-8) : [];
        this.#findings.check(
          false,
          `${tool} did not come back in ${BOUND_MS} ms; it said ${said.join(' | ')}`,
        );
        return false;
      }
      await sleep(20);
    }
  }

  /** Null: refused, because the device is away right now. A lost answer is asked for again with the same key. */
  async #ask(tool: string, n: number): Promise<string | null> {
    const headers = { 'idempotency-key': `loop-${n}` };
    for (;;) {
      const body = { run_id: 'run_chaos', args: { n } };
      const answer = await orGone(post(`${this.#url}/v1/tools/${tool}/invoke`, body, { headers }));
      if (answer?.status === 202) return String(answer.body['tool_call_id']);
      if (answer?.status === 404) return null;
      await sleep(20);
    }
  }

  async #ended(id: string): Promise<CallView | null> {
    const until = Date.now() + BOUND_MS;
    while (Date.now() < until) {
      const answer = await orGone(get(`${this.#url}/v1/tool_calls/${id}`, { headers: { prefer: 'wait=5' } }));
      const call = answer?.body as CallView | undefined;
      if (answer?.status === 200 && call !== undefined && call.completed_at !== null) return call;
      if (answer === null) await sleep(20);
    }
    return null;
  }

  async #endings(): Promise<CallView[]> {
    const views: CallView[] = [];
    for (const id of this.#calls.keys()) {
      const view = await this.#ended(id);
      if (view === null)
        this.#findings.check(false, `${id} has no ending ${BOUND_MS} ms after it was asked for`);
      else views.push(view);
    }
    // What is still in an outbox is answered before anybody is judged.
    await sleep(1000);
    return views;
  }

  #tracesOf(tool: string): DeviceTrace[] {
    const file = join(this.#options.folder, `${tool}.effects`);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as DeviceTrace);
  }

  #judge(views: readonly CallView[], traces: readonly DeviceTrace[]): void {
    const byId = new Map(views.map((view) => [view.tool_call_id, view]));
    const runs = new Map<string, string[]>();
    const kept = new Map<string, Set<string>>();
    for (const trace of traces) {
      const callId = trace.id.split(':')[0] ?? '';
      if (trace.kind === 'ran') runs.set(callId, [...(runs.get(callId) ?? []), trace.id]);
      else if (trace.accepted) kept.set(callId, (kept.get(callId) ?? new Set()).add(trace.id));
    }
    for (const [callId, ids] of runs) {
      this.#findings.check(ids.length === 1, `${callId} is not idempotent and ran ${ids.length} times`);
      const { outcome } = byId.get(callId)?.error ?? {};
      this.#findings.check(outcome !== 'not_started', `${callId} says it did not start, and it ran`);
    }
    for (const [callId, ids] of kept) {
      const view = byId.get(callId);
      const { id } = (view?.result ?? {}) as { id?: string };
      const isKept = view?.state === 'COMPLETED' && ids.size === 1 && id !== undefined && ids.has(id);
      this.#findings.check(
        isKept,
        `${callId} acknowledged ${[...ids].join()} as kept and keeps ${id ?? view?.state}`,
      );
    }
    for (const view of views) {
      if (view.state !== 'COMPLETED') continue;
      const { n, id } = view.result as { n: number; id: string };
      const ran = runs.get(view.tool_call_id)?.includes(id) === true;
      const isOwn = this.#calls.get(view.tool_call_id)?.n === n;
      this.#findings.check(ran && isOwn, `${view.tool_call_id} has a result that nobody made: ${id}`);
    }
  }

  async #checkLedger(): Promise<void> {
    const answer = await get(`${this.#url}/v1/ledger/verify`);
    this.#findings.check(
      answer.body['ok'] === true,
      `the ledger does not verify: ${JSON.stringify(answer.body)}`,
    );
  }
}

function countBy<T>(values: readonly T[], key: (value: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[key(value)] = (counts[key(value)] ?? 0) + 1;
  return counts;
}
