import type { Log } from '../../core/ports.ts';
import type { WriterLost } from './writer-lost.ts';

/** Logs once that no write of this process succeeds any more, and calls the listeners. */
export class LossListeners {
  readonly #log: Log | undefined;
  readonly #listeners: Set<(error: WriterLost) => void> = new Set();
  #error: WriterLost | null = null;

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  get problem(): string | null {
    return this.#error?.message ?? null;
  }

  report(error: WriterLost): void {
    if (this.#error !== null) return;
    this.#error = error;
    this.#log?.error('store.fenced', { error: error.message });
    for (const listener of this.#listeners) listener(error);
  }

  /** Calls the listener at once if the writer is lost already. */
  add(listener: (error: WriterLost) => void): () => void {
    this.#listeners.add(listener);
    if (this.#error !== null) listener(this.#error);
    return () => void this.#listeners.delete(listener);
  }
}
