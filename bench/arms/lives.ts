import process from 'node:process';
import { cpuTimeOfTree } from '../cpu-time.ts';
import { median } from '../statistics.ts';

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
  /** CPU time per call in microseconds, of this process and of the server that stores the calls. */
  readonly cpuUs: number;
  /** Absent without a separate server. */
  readonly serverCpuUs?: number;
}

/**
 * Runs as many calls as possible in the given time, `concurrency` at a time and then one at a time, and
 * prints the results.
 */
export async function measureLives(
  { concurrency, seconds, warmSeconds = Math.min(1, seconds), serverPid }: LifeSettings,
  liveOnce: (line: string) => Promise<void>,
): Promise<void> {
  await together(warmSeconds);
  const life: Life = { ...(await together(seconds)), aloneP50Ms: await alone(seconds / 2) };
  process.stdout.write(`${JSON.stringify(life)}\n`);

  async function together(duration: number): Promise<Omit<Life, 'aloneP50Ms'>> {
    const [serverBefore, cpuBefore] = [serverCpuTime(), ownCpuTime()];
    const began = performance.now();
    const end = began + duration * 1000;
    let ended = 0;
    const lines = Array.from({ length: concurrency }, async (_, line) => {
      while (performance.now() < end) {
        await liveOnce(String(line));
        ended += 1;
      }
    });
    await Promise.all(lines);
    return {
      perSecond: (ended * 1000) / (performance.now() - began),
      cpuUs: (ownCpuTime() - cpuBefore) / ended,
      ...(serverPid === undefined ? {} : { serverCpuUs: (serverCpuTime() - serverBefore) / ended }),
    };
  }

  function serverCpuTime(): number {
    return serverPid === undefined ? 0 : cpuTimeOfTree(serverPid);
  }

  async function alone(duration: number): Promise<number> {
    const end = performance.now() + duration * 1000;
    const times: number[] = [];
    do {
      const began = performance.now();
      await liveOnce('alone');
      times.push(performance.now() - began);
    } while (performance.now() < end);
    return median(times);
  }
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
