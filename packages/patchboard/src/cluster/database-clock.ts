import type { Clock, Log } from '../core/ports.ts';

interface Sample {
  readonly roundTripMs: number;
  /** The database's time minus monotonic time of this process. */
  readonly offset: number;
}

const SAMPLES = 8;
/** Milliseconds per millisecond. */
const SLEW = 0.005;
const STEP_MS = 1000;
/** A step is followed if it lasts this long. */
const FOLLOW_AFTER_MS = 10_000;
const CAUTIOUS_MS = 600_000;

/**
 * The clock of the database, which all nodes share: monotonic time of this process plus an offset that is measured with each
 * heartbeat. The wall clock of the node is used only before the first measurement.
 */
export class DatabaseClock implements Clock {
  readonly #base: Clock;
  readonly #log: Log;
  #samples: Sample[] = [];
  #offset: number;
  #target: number;
  /** Until when `#offset` was adjusted, monotonic. */
  #adjustedAt: number;
  /** Since when the samples differ by more than a step, monotonic. */
  #steppedAt: number | null = null;
  #cautiousUntil = -Infinity;

  constructor(base: Clock, log: Log) {
    this.#base = base;
    this.#log = log;
    this.#adjustedAt = base.elapsed();
    this.#offset = base.now() - this.#adjustedAt;
    this.#target = this.#offset;
  }

  now(): number {
    const elapsed = this.#base.elapsed();
    const most = (elapsed - this.#adjustedAt) * SLEW;
    this.#adjustedAt = elapsed;
    this.#offset += Math.min(most, Math.max(-most, this.#target - this.#offset));
    return Math.round(elapsed + this.#offset);
  }

  /** The time of the database minus the wall clock of this machine. */
  get offsetMs(): number {
    return this.now() - this.#base.now();
  }

  elapsed(): number {
    return this.#base.elapsed();
  }

  after(ms: number, action: () => void): () => void {
    return this.#base.after(ms, action);
  }

  turn(): Promise<void> {
    return this.#base.turn();
  }

  /** Whether the clock of the database steps or has stepped lately, so that deadlines written before may be wrong. */
  get isCautious(): boolean {
    return this.#steppedAt !== null || this.#base.elapsed() < this.#cautiousUntil;
  }

  /** Takes the time of the database that was read between two times of this process, both monotonic. */
  measured(sentAt: number, receivedAt: number, databaseNow: number): void {
    const roundTripMs = receivedAt - sentAt;
    const sample = { roundTripMs, offset: databaseNow - (sentAt + receivedAt) / 2 };
    if (this.#samples.length === 0) return this.#follow(sample);
    const best = Math.min(...this.#samples.map((one) => one.roundTripMs));
    // The measurements so far were slow, so that the time may be wrong by seconds: slewing would take minutes.
    if (best > STEP_MS && roundTripMs < best) return this.#follow(sample);
    const tolerated = STEP_MS + (roundTripMs + best) / 2;
    if (Math.abs(sample.offset - this.#target) <= tolerated) {
      this.#steppedAt = null;
      this.#samples = [...this.#samples.slice(1 - SAMPLES), sample];
      this.#target = this.#samples.reduce((a, b) => (b.roundTripMs < a.roundTripMs ? b : a)).offset;
      return;
    }
    this.#steppedAt ??= receivedAt;
    if (receivedAt - this.#steppedAt < FOLLOW_AFTER_MS) return;
    this.#log.warn('cluster.clock_stepped', { by_ms: Math.round(sample.offset - this.#target) });
    this.#cautiousUntil = receivedAt + CAUTIOUS_MS;
    this.#follow(sample);
  }

  #follow(sample: Sample): void {
    this.#samples = [sample];
    this.#steppedAt = null;
    this.#target = sample.offset;
    this.#offset = sample.offset;
    this.#adjustedAt = this.#base.elapsed();
  }
}
