import type { DeviceOptions } from './device-options.ts';
import { positive, type Settings } from '../http/options.ts';
import { backoff } from '../http/retry.ts';

/** The server's default grace period, used until the server sends its own. */
const GRACE_MS = 10_000;
/** Maximum factor by which the connect timeout grows. */
const MAX_OPENING_FACTOR = 8;

/** Timeouts and back-off of a device's connections. */
export class ReconnectTiming {
  readonly #settings: Settings;
  readonly #openTimeoutMs: number;
  readonly #longestMs: number | null;
  #graceMs = GRACE_MS;
  #failures = 0;
  /** Failed attempts since the last registration. */
  #unopened = 0;

  constructor(settings: Settings, { openTimeoutMs = 5000, retry }: DeviceOptions) {
    this.#settings = settings;
    this.#openTimeoutMs = positive('openTimeoutMs', openTimeoutMs);
    this.#longestMs = retry?.maxDelayMs ?? null;
  }

  /** Timeout for opening a connection; doubles after each failed attempt. */
  get openingMs(): number {
    return this.#openTimeoutMs * Math.min(2 ** this.#unopened, MAX_OPENING_FACTOR);
  }

  /** Limits the delay to the server's grace period: after it, the server has ended the device's calls. */
  welcomed(graceMs: number): void {
    this.#graceMs = graceMs;
  }

  registered(): void {
    this.#unopened = 0;
  }

  /** Resets the back-off. */
  stable(): void {
    this.#failures = 0;
  }

  /** Returns the delay before the next attempt. */
  lost(wasOnline: boolean): number {
    if (!wasOnline) this.#unopened += 1;
    this.#failures += 1;
    const { retry } = this.#settings;
    const maxDelayMs = this.#longestMs ?? Math.max(retry.baseDelayMs, this.#graceMs);
    return backoff({ ...this.#settings, retry: { ...retry, maxDelayMs } }, this.#failures);
  }
}
