import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallView } from '@patchboard/wire';
import { planOf, type Fault, type Disturbance, type Step } from './device-faults.ts';
import { DeviceHistory } from './device-history.ts';
import { DeviceProcess } from './device-process.ts';
import { DEVICE_PACE } from './device-worker-options.ts';
import { get, orGone } from './http.ts';
import { RestartingServer } from './restarting-server.ts';
import { Findings, type ScenarioReport } from './scenario.ts';
import { SeededRandom } from './seeded-random.ts';
import { aDroppingProxy, type DroppingProxy } from './dropping-proxy.ts';

export interface DevicesOptions {
  readonly folder: string;
  /** Number of calls with an injected fault. */
  readonly loops: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

const LANES = 3;
const HEARTBEAT_MS = 250;
const GRACE_MS = 3000;
const TIMEOUT_MS = 20_000;
/** Tolerance beyond a call's time limit, for a busy machine. */
const BOUND_MS = TIMEOUT_MS + 15_000;
/** Upper bound for one reconnect attempt: wait, connect, register. */
const ATTEMPT_MS = DEVICE_PACE.maxDelayMs + 2 * 8 * DEVICE_PACE.openTimeoutMs;
/** One attempt may go to the old server, one may fail under load; the third must succeed. */
const RETURN_MS = 3 * ATTEMPT_MS;

/** A device with its own proxy to the server. */
interface Lane {
  readonly tool: string;
  readonly effectsFile: string;
  readonly device: DeviceProcess;
  readonly wire: DroppingProxy;
}

/** Injects faults into devices, network and server at every step of a call, and checks the guarantees. */
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
  readonly #configFile: string;
  readonly #lanes: Lane[] = [];
  readonly #findings = new Findings();
  readonly #history = new DeviceHistory(this.#findings);
  readonly #faults: Record<string, number> = {};
  readonly #server: RestartingServer;
  #number = 0;
  #slowestReturnMs = 0;
  /** A fatal error: the workers stop, and the history so far is checked. */
  #isAborted = false;

  constructor(options: DevicesOptions) {
    this.#options = options;
    this.#configFile = join(options.folder, 'config.json');
    this.#server = new RestartingServer({
      dataFolder: join(options.folder, 'data'),
      configFile: this.#configFile,
      up: () => this.#history.up(),
      down: () => this.#history.down(),
    });
  }

  async run(): Promise<ScenarioReport> {
    const limits = { device_heartbeat_ms: HEARTBEAT_MS, device_grace_ms: GRACE_MS };
    writeFileSync(this.#configFile, JSON.stringify({ http: { allowed_hosts: ['127.0.0.1'] }, limits }));
    const { loops, seed } = this.#options;
    const plan = planOf(loops, new SeededRandom(seed));
    await this.#orAbort(async () => {
      await this.#server.start();
      const lanes = Array.from({ length: Math.min(LANES, loops) }, (_, lane) =>
        this.#orAbort(() => this.#runLane(lane, plan)),
      );
      await Promise.all(lanes);
    });
    return await this.#report();
  }

  /** Checks the history, also of an aborted run. */
  async #report(): Promise<ScenarioReport> {
    await this.#orAbort(async () => {
      if (this.#server.hasEnded) await this.#server.restart();
      await this.#seeEndings();
      await this.#checkLedger();
    });
    const traces = this.#lanes.flatMap(({ effectsFile }) => this.#history.readTraces(effectsFile));
    this.#history.judge(traces, BOUND_MS);
    const { calls } = this.#history;
    const views = [...this.#history.views.values()];
    return {
      facts: {
        calls: calls.size,
        faults: this.#faults,
        executions: traces.filter(({ kind }) => kind === 'ran').length,
        'server starts': this.#history.lives.length,
        'slowest start, s': (this.#server.slowestStartMs / 1000).toFixed(1),
        'slowest return of a device, s': (this.#slowestReturnMs / 1000).toFixed(1),
        endings: countBy(views, (view) => view.error?.code ?? view.state),
        'not completed': countBy(
          views.filter(({ state }) => state !== 'COMPLETED'),
          (view) => `${calls.get(view.tool_call_id)?.fault ?? ''}: ${view.error?.code ?? ''}`,
        ),
      },
      violations: this.#findings.violations,
    };
  }

  async #orAbort(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#isAborted = true;
      this.#findings.check(false, `aborted: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async destroy(): Promise<void> {
    await Promise.all(
      this.#lanes.map(async ({ device, wire }) => [await device.destroy(), await wire.close()]),
    );
    await this.#server.destroy();
  }

  async #runLane(index: number, plan: Disturbance[]): Promise<void> {
    const tool = `lane${index}.work`;
    const wire = await aDroppingProxy(() => Number(new URL(this.#server.url).port));
    const { folder } = this.#options;
    const effectsFile = join(folder, `${tool}.effects`);
    const outboxFile = join(folder, `${tool}.outbox`);
    const device = new DeviceProcess({ url: wire.url, tool, timeoutMs: TIMEOUT_MS, effectsFile, outboxFile });
    const lane = { tool, effectsFile, device, wire };
    this.#lanes.push(lane);
    for (;;) {
      const next = plan.shift();
      if (next === undefined || this.#isAborted) return;
      await this.#disturbOne(lane, next.step, next.fault);
      if (plan.length > 0 && plan.length % 100 === 0) this.#options.log(`${plan.length} to go`);
    }
  }

  /** One call with one fault at one step. Its result is checked at the end. */
  async #disturbOne(lane: Lane, step: Step, fault: Fault): Promise<void> {
    const { device, tool } = lane;
    const n = (this.#number += 1);
    const begun = device.says('begun', n);
    const returning = device.says('returning', n);
    const acknowledged = device.says('acknowledged', n);
    let id: string | null = null;
    while (id === null) {
      await this.#untilOffered(lane);
      id = await this.#server.ask(tool, n, () => this.#isAborted);
    }
    this.#history.calls.set(id, { n, fault: `${fault}, ${step}` });
    const reached = async (event: Promise<void>): Promise<void> => {
      await Promise.race([event, sleep(TIMEOUT_MS)]);
    };
    if (step !== 'asked') await reached(begun);
    if (step === 'begun' || step === 'asked') {
      await this.#inject(lane, fault);
      // A killed device starts no call; one that reconnects continues.
      await Promise.race([begun, sleep(50)]);
      device.finish(n);
    } else {
      device.finish(n);
      await reached(step === 'returning' ? returning : acknowledged);
      await this.#inject(lane, fault);
    }
    // The execution may not have started before the fault: then it starts now, or never.
    const late = begun.then(() => device.finish(n));
    await Promise.race([this.#ended(id), late.then(() => this.#ended(id))]);
  }

  async #inject({ device, wire }: Lane, fault: Fault): Promise<void> {
    this.#faults[fault] = (this.#faults[fault] ?? 0) + 1;
    switch (fault) {
      case 'device killed':
        return await device.restart();
      case 'device stopped':
        device.stop();
        await sleep(HEARTBEAT_MS * 4);
        return device.goOn();
      case 'server killed':
        return await this.#server.inTurn(() => this.#server.restart());
      case 'server stopped':
        return await this.#server.inTurn(async () => {
          process.kill(this.#server.pid, 'SIGSTOP');
          await sleep(HEARTBEAT_MS * 4);
          process.kill(this.#server.pid, 'SIGCONT');
        });
      case 'connection reset':
        return wire.cut();
      default:
        wire.drop(
          fault === 'connection drops up' ? 'up' : fault === 'connection drops down' ? 'down' : 'both',
        );
        await sleep(HEARTBEAT_MS * 4);
        return wire.restore();
    }
  }

  /**
   * Downtime of the server does not count. A server that does not come back aborts the run,
   * and one that ends without having been killed leaves the clock running.
   */
  async #untilOffered({ tool, effectsFile }: Lane): Promise<void> {
    const asked = Date.now();
    for (;;) {
      const response = await orGone(get(`${this.#server.url}/v1/tools/${tool}`));
      const { upSince } = this.#history;
      const waitedMs = upSince === null ? 0 : Date.now() - Math.max(asked, upSince);
      if (response?.status === 200) {
        this.#slowestReturnMs = Math.max(this.#slowestReturnMs, waitedMs);
        return;
      }
      if (this.#isAborted) throw new Error(`${tool} waits no longer`);
      if (waitedMs > RETURN_MS) {
        const problems = `${effectsFile}.problems`;
        const said = existsSync(problems) ? readFileSync(problems, 'utf8').trim().split('\n').slice(-12) : [];
        const server = this.#server.hasEnded ? 'ended by itself' : 'runs';
        throw new Error(
          `${tool} did not come back in ${RETURN_MS} ms with the server up (it ${server}, and returned ${response?.status}); ` +
            `the device said ${said.join(' | ')}; the server said ${this.#server.stderr.slice(-2000)}`,
        );
      }
      await sleep(20);
    }
  }

  #ended(id: string): Promise<CallView | null> {
    return this.#server.ended(id, BOUND_MS);
  }

  async #seeEndings(): Promise<void> {
    for (const id of this.#history.calls.keys()) {
      const view = await this.#ended(id);
      if (view !== null) this.#history.views.set(id, view);
    }
    // Wait until all outboxes are empty before checking.
    await sleep(1000);
  }

  async #checkLedger(): Promise<void> {
    const response = await get(`${this.#server.url}/v1/ledger/verify`);
    this.#findings.check(
      response.body['ok'] === true,
      `the ledger does not verify: ${JSON.stringify(response.body)}`,
    );
  }
}

function countBy<T>(values: readonly T[], key: (value: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[key(value)] = (counts[key(value)] ?? 0) + 1;
  return counts;
}
