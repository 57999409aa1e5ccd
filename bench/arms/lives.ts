import process from 'node:process';
import { median } from '../statistics.ts';

export interface LifeSettings {
  readonly concurrency: number;
  readonly seconds: number;
}

export interface Life {
  readonly perSecond: number;
  /** One at a time. */
  readonly aloneP50Ms: number;
}

/**
 * Runs as many calls as possible in the given time, `concurrency` at a time and then one at a time, and
 * prints the results.
 */
export async function measureLives(
  { concurrency, seconds }: LifeSettings,
  liveOnce: (line: string) => Promise<void>,
): Promise<void> {
  await together(Math.min(1, seconds)); // warm
  const life: Life = { perSecond: await together(seconds), aloneP50Ms: await alone(seconds / 2) };
  process.stdout.write(`${JSON.stringify(life)}\n`);

  async function together(duration: number): Promise<number> {
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
    return (ended * 1000) / (performance.now() - began);
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
