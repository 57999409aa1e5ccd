import type { DeviceOptions } from './device-options.ts';
import { positive, type Settings } from '../http/options.ts';
import { backoff } from '../http/retry.ts';

/** Until a server has said otherwise; its default. */
const GRACE_MS = 10_000;
/** An attempt to connect is given up to so many times as long as the first. */
const MOST_OPENINGS = 8;

/** How long a device waits: for an answer, and before it tries again. */
export class DevicePatience {
  readonly #settings: Settings;
  readonly #openTimeoutMs: number;
  readonly #longestMs: number | null;
  #graceMs = GRACE_MS;
  #failures = 0;
  /** Attempts since the tools were registered last. */
  #unopened = 0;

  constructor(settings: Settings, { openTimeoutMs = 5000, retry }: DeviceOptions) {
    this.#settings = settings;
    this.#openTimeoutMs = positive('openTimeoutMs', openTimeoutMs);
    this.#longestMs = retry?.maxDelayMs ?? null;
  }

  /** For opening a connection; longer each time it was not enough. */
  get openingMs(): number {
    return this.#openTimeoutMs * Math.min(2 ** this.#unopened, MOST_OPENINGS);
  }

  /** What the server waits for us decides how long we may stay away: whoever comes later finds its calls ended. */
  welcomed(graceMs: number): void {
    this.#graceMs = graceMs;
  }

  registered(): void {
    this.#unopened = 0;
  }

  /** The next failure is the first. */
  stable(): void {
    this.#failures = 0;
  }

  /** How long to wait before the next attempt. */
  lost(wasOnline: boolean): number {
    if (!wasOnline) this.#unopened += 1;
    this.#failures += 1;
    const { retry } = this.#settings;
    const maxDelayMs = this.#longestMs ?? Math.max(retry.baseDelayMs, this.#graceMs);
    return backoff({ ...this.#settings, retry: { ...retry, maxDelayMs } }, this.#failures);
  }
}
