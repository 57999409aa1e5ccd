import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';
import { NodeFenced } from './node-table.ts';

/** Runs the work of a node until the node is fenced. Everything that finds that out reports it here. */
export class FenceGuard {
  readonly #log: Log;
  readonly #listeners: ((problem: string) => void)[] = [];
  #problem: string | null = null;
  /** Each outage is logged once. */
  #isFailing = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get isFenced(): boolean {
    return this.#problem !== null;
  }

  /** Calls `listener` once, at once if the node is fenced. */
  onFenced(listener: (problem: string) => void): void {
    this.#listeners.push(listener);
    if (this.#problem !== null) listener(this.#problem);
  }

  fence(problem: string): void {
    if (this.#problem !== null) return;
    this.#problem = problem;
    for (const listener of this.#listeners) listener(problem);
  }

  /** Runs work that is repeated later if it fails. */
  async run(work: () => Promise<void>): Promise<void> {
    if (this.#problem !== null) return;
    try {
      await work();
      this.#isFailing = false;
    } catch (error) {
      if (error instanceof NodeFenced) return this.fence(error.message);
      this.failed(error);
    }
  }

  /** Begins work that nothing awaits. */
  start(work: () => Promise<void>): void {
    this.run(work).catch((error: unknown) => this.failed(error));
  }

  /** Runs work whose caller gets the error; of a fenced node it is also the end. */
  async request<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NodeFenced) this.fence(error.message);
      throw error;
    }
  }

  failed(error: unknown): void {
    if (!this.#isFailing) this.#log.warn('cluster.poll_failed', { error: messageOf(error) });
    this.#isFailing = true;
  }
}
