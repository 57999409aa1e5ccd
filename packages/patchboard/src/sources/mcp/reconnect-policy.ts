import type { Clock } from '../../core/ports.ts';

const SHORTEST_MS = 500;
const LONGEST_MS = 60_000;
/** After this many exits within the window the process is not started again. */
const EXITS = 5;
const EXIT_WINDOW_MS = 60_000;

/** Exponential back-off with jitter, and a limit on how often a process may end. */
export class ReconnectPolicy {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #exits: number[] = [];

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The delay before the next attempt: 0.5 s, doubled after each failure, at most 60 s; half of it is random. */
  nextDelayMs(): number {
    const delay = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    return delay * (0.5 + this.#random() / 2);
  }

  /** The attempt succeeded: the delay begins at its shortest again. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Counts an exit of the process. Returns false if it ended too often. */
  mayRestart(): boolean {
    const now = this.#clock.elapsed();
    this.#exits = [...this.#exits.filter((at) => now - at < EXIT_WINDOW_MS), now];
    return this.#exits.length < EXITS;
  }

  reset(): void {
    this.#failures = 0;
    this.#exits = [];
  }
}
