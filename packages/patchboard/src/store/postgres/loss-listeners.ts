import type { WriterLost } from './writer-lost.ts';

/** Calls the listeners once no write of this process succeeds any more. */
export class LossListeners {
  readonly #listeners: Set<(error: WriterLost) => void> = new Set();
  #error: WriterLost | null = null;

  get problem(): string | null {
    return this.#error?.message ?? null;
  }

  report(error: WriterLost): void {
    if (this.#error !== null) return;
    this.#error = error;
    for (const listener of this.#listeners) listener(error);
  }

  /** Calls the listener at once if the writer is lost already. */
  add(listener: (error: WriterLost) => void): () => void {
    this.#listeners.add(listener);
    if (this.#error !== null) listener(this.#error);
    return () => void this.#listeners.delete(listener);
  }
}
