import type { Clock } from '../../core/ports.ts';

/** The thread sends heartbeats of its own if the event loop has requested none for this long. Much shorter than the lease. */
const AFTER_MS = 1000;
const EVERY_MS = 500;
/** An event loop that has requested nothing for this long does not come back: other nodes may take the calls. */
const BLOCKED_MS = 10_000;

/** Continues the heartbeats of a node while its event loop is blocked and requests none. */
export class FallbackHeartbeats {
  readonly #clock: Pick<Clock, 'elapsed' | 'after'>;
  readonly #beat: () => Promise<void>;
  #requestedAt = -Infinity;
  #cancel: () => void = () => {};

  /** `beat` must not reject. */
  constructor(clock: Pick<Clock, 'elapsed' | 'after'>, beat: () => Promise<void>) {
    this.#clock = clock;
    this.#beat = beat;
  }

  /** The event loop has requested a heartbeat. */
  requested(): void {
    this.#requestedAt = this.#clock.elapsed();
    this.#schedule(AFTER_MS);
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, () => void this.#run());
  }

  async #run(): Promise<void> {
    const requestedAt = this.#requestedAt;
    if (this.#clock.elapsed() - requestedAt >= BLOCKED_MS) return;
    await this.#beat();
    if (this.#requestedAt === requestedAt) this.#schedule(EVERY_MS);
  }
}
