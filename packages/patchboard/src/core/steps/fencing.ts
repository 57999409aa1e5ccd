import type { Lifecycle } from '../call/lifecycle.ts';
import { failure, foreignText, type Failure } from '../failures.ts';
import type { Log } from '../ports.ts';
import type { Providers } from '../providers/providers.ts';
import type { CallNotifier } from './call-notifier.ts';

export interface FencingParts {
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly providers: Providers;
  readonly notifier: CallNotifier;
}

/** Stops a process whose store another process has taken over: no write of it succeeds any more. */
export class Fencing {
  readonly #parts: FencingParts;
  readonly #listeners: Set<(problem: string) => void> = new Set();
  #failure: Failure | null = null;

  constructor(parts: FencingParts) {
    this.#parts = parts;
  }

  /** The failure of every request to a fenced process; null: it is not fenced. */
  get failure(): Failure | null {
    return this.#failure;
  }

  /** Calls `listener` when the process is fenced, at once if it is. */
  onFenced(listener: (problem: string) => void): () => void {
    this.#listeners.add(listener);
    if (this.#failure !== null) listener(this.#failure.message);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Stops all work and releases the waiters. Only the first call has an effect. */
  fence(problem: string): void {
    if (this.#failure !== null) return;
    this.#failure = failure('storage_unavailable', foreignText(problem));
    const { log, lifecycle, providers, notifier } = this.#parts;
    log.error('engine.fenced', { problem });
    providers.stop();
    lifecycle.fence(problem);
    notifier.fenced();
    for (const listener of this.#listeners) listener(problem);
  }
}
