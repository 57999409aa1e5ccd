import process from 'node:process';
import { cpuTimeOfTree, cpuTimeOfWorkers } from '../cpu-time.ts';
import { median } from '../statistics.ts';
import { untilIdle } from '../until-idle.ts';

export interface LifeSettings {
  readonly concurrency: number;
  readonly seconds: number;
  /** Default: a second at most. More of it compiles more of the code. */
  readonly warmSeconds?: number;
  /** The separate server that stores the calls, if its CPU time is measured. */
  readonly serverPid?: number;
}

export interface Life {
  readonly perSecond: number;
  /** One at a time. */
  readonly aloneP50Ms: number;
  /** CPU time per call in microseconds, of this process without its worker threads. */
  readonly cpuUs: number;
  /** Of its worker threads, until they have done what the calls left to them. */
  readonly workerCpuUs: number;
  /** Of the server that stores the calls. Absent without a separate one. */
  readonly serverCpuUs?: number;
}

type LiveOnce = (line: string) => Promise<void>;

/**
 * Runs as many calls as possible in the given time, `concurrency` at a time and then one at a time, and
 * prints the results.
 */
export async function measureLives(settings: LifeSettings, liveOnce: LiveOnce): Promise<void> {
  const { seconds, warmSeconds = Math.min(1, seconds) } = settings;
  await liveTogether(settings, warmSeconds, liveOnce);
  const together = await liveTogether(settings, seconds, liveOnce);
  const life: Life = { ...together, aloneP50Ms: await liveAlone(seconds / 2, liveOnce) };
  process.stdout.write(`${JSON.stringify(life)}\n`);
}

async function liveTogether(
  { concurrency, serverPid }: LifeSettings,
  seconds: number,
  liveOnce: LiveOnce,
): Promise<Omit<Life, 'aloneP50Ms'>> {
  const serverCpuTime = (): number => (serverPid === undefined ? 0 : cpuTimeOfTree(serverPid));
  const before = { server: serverCpuTime(), workers: workerCpuTime(), own: ownCpuTime() };
  const began = performance.now();
  const end = began + seconds * 1000;
  let ended = 0;
  const lines = Array.from({ length: concurrency }, async (_, line) => {
    while (performance.now() < end) {
      await liveOnce(String(line));
      ended += 1;
    }
  });
  await Promise.all(lines);
  const perSecond = (ended * 1000) / (performance.now() - began);
  const workers = workerCpuTime() - before.workers;
  const cpuUs = (ownCpuTime() - before.own - workers) / ended;
  const serverCpuUs = (serverCpuTime() - before.server) / ended;
  // Also so that the index is up to date when one call at a time is measured.
  await untilIdle(process.pid);
  return {
    perSecond,
    cpuUs,
    workerCpuUs: (workerCpuTime() - before.workers) / ended,
    ...(serverPid === undefined ? {} : { serverCpuUs }),
  };
}

async function liveAlone(seconds: number, liveOnce: LiveOnce): Promise<number> {
  const end = performance.now() + seconds * 1000;
  const times: number[] = [];
  do {
    const began = performance.now();
    await liveOnce('alone');
    times.push(performance.now() - began);
  } while (performance.now() < end);
  return median(times);
}

function workerCpuTime(): number {
  return cpuTimeOfWorkers(process.pid);
}

function ownCpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Matches the end of a call with its start, whichever is reported first. */
export class Endings {
  readonly #waiting: Map<string, () => void> = new Map();
  readonly #early: Set<string> = new Set();

  ended(id: string): void {
    const wake = this.#waiting.get(id);
    if (wake === undefined) this.#early.add(id);
    else wake();
    this.#waiting.delete(id);
  }

  async of(id: string): Promise<void> {
    if (this.#early.delete(id)) return;
    await new Promise<void>((resolve) => this.#waiting.set(id, resolve));
  }
}
