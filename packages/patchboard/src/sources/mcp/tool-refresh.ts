import type { Clock } from '../../core/ports.ts';
import type { ToolListing } from './tool-listing.ts';

/** The list is read at the time that the server declares, within these bounds. */
const LATEST_MS = 600_000;
const EARLIEST_MS = 30_000;
/** After a failure, and after a change: a server that reports changes all the time is read once a second. */
const AFTER_FAILURE_MS = 60_000;
const AFTER_CHANGE_MS = 1_000;
/** How long reading all pages may take. */
const READ_MS = 60_000;

export interface ToolRefreshOptions {
  readonly clock: Clock;
  readonly read: (signal: AbortSignal) => Promise<ToolListing>;
  readonly onListed: (listing: ToolListing) => void;
  readonly onFailed: (error: unknown) => void;
}

/** Reads the tools of one session: at once, after changes, and at intervals until it is stopped. */
export class ToolRefresh {
  readonly #options: ToolRefreshOptions;
  readonly #stop = new AbortController();
  #cancelTimer: () => void = () => {};
  #startedAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isStale = false;

  constructor(options: ToolRefreshOptions) {
    this.#options = options;
    this.#schedule(0);
  }

  /** The tools may have changed. */
  changed(): void {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#schedule(Math.max(0, this.#startedAt + AFTER_CHANGE_MS - this.#options.clock.elapsed()));
  }

  stop(): void {
    this.#cancelTimer();
    this.#stop.abort(new Error('the list of tools is not needed any more'));
  }

  #schedule(ms: number): void {
    this.#cancelTimer();
    if (this.#stop.signal.aborted) return;
    const read = (): void => void this.#read().catch(this.#options.onFailed);
    if (ms === 0) read();
    else this.#cancelTimer = this.#options.clock.after(ms, read);
  }

  async #read(): Promise<void> {
    const { clock, read, onListed, onFailed } = this.#options;
    this.#isReading = true;
    this.#isStale = false;
    this.#startedAt = clock.elapsed();
    const limit = new AbortController();
    const cancelLimit = clock.after(READ_MS, () => limit.abort(new Error('tools/list took too long')));
    let next = AFTER_FAILURE_MS;
    try {
      const listing = await read(AbortSignal.any([limit.signal, this.#stop.signal]));
      next = Math.min(LATEST_MS, Math.max(EARLIEST_MS, listing.ttlMs ?? LATEST_MS));
      if (!this.#stop.signal.aborted) onListed(listing);
    } catch (error) {
      if (!this.#stop.signal.aborted) onFailed(error);
    } finally {
      cancelLimit();
      this.#isReading = false;
    }
    this.#schedule(this.#isStale ? AFTER_CHANGE_MS : next);
  }
}
