import type { Clock } from './ports.ts';

/**
 * Repeats `work` every `ms`, one run at a time; a run that takes longer delays the next one. `now` runs it without waiting for
 * the time, once more if it is running.
 */
export class Repeated {
  readonly #clock: Pick<Clock, 'after' | 'elapsed'>;
  readonly #ms: number;
  readonly #work: () => Promise<void>;
  #cancel: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #isDue = false;
  #isStopped = true;

  constructor(clock: Pick<Clock, 'after' | 'elapsed'>, ms: number, work: () => Promise<void>) {
    this.#clock = clock;
    this.#ms = ms;
    this.#work = work;
  }

  start(): void {
    this.#isStopped = false;
    this.#schedule(this.#ms);
  }

  now(): void {
    if (this.#isStopped) return;
    this.#isDue = true;
    if (this.#running === null) this.#run();
  }

  /** Resolves when the work no longer runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#running;
  }

  #schedule(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(ms, () => this.#run());
  }

  #run(): void {
    if (this.#running !== null || this.#isStopped) return;
    this.#cancel?.();
    this.#isDue = false;
    const startedAt = this.#clock.elapsed();
    this.#running = this.#work().finally(() => {
      this.#running = null;
      if (this.#isStopped) return;
      if (this.#isDue) this.#run();
      else this.#schedule(Math.max(0, startedAt + this.#ms - this.#clock.elapsed()));
    });
  }
}
