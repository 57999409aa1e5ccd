import type { Clock } from '../../core/ports.ts';

const INTERVAL_MS = 25;

/**
 * Merges text deltas, because a model sends them faster than each could be stored: emits the first at once, then at most
 * one per interval.
 */
export class DeltaBatcher {
  readonly #clock: Clock;
  readonly #emit: (text: string) => void;
  #pending = '';
  #cancelTimer: (() => void) | null = null;

  constructor(clock: Clock, emit: (text: string) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  add(delta: string): void {
    this.#pending += delta;
    if (this.#cancelTimer === null) this.#emitPending();
  }

  /** Emits the rest, so that later events come after it. */
  end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (this.#pending !== '') this.#emit(this.#pending);
    this.#pending = '';
  }

  #emitPending(): void {
    this.#cancelTimer = null;
    if (this.#pending === '') return;
    this.#emit(this.#pending);
    this.#pending = '';
    this.#cancelTimer = this.#clock.after(INTERVAL_MS, () => this.#emitPending());
  }
}
