import type { Clock } from '../../core/ports.ts';
import { NotStarted } from './mcp-connection.ts';

/** How long a request waits for the connection. */
const WAIT_MS = 5_000;

interface Waiter<T> {
  readonly until: number;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** The requests that wait until the connection is established. */
export class OnlineWaiters<T> {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter<T>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with `NotStarted` after 5 s, and with the reason of the signal. `why` returns why there is no connection. */
  wait(signal: AbortSignal, why: () => string): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#waiters.delete(waiter);
        signal.removeEventListener('abort', onAbort);
        cancelTimer();
      };
      const waiter: Waiter<T> = {
        until: this.#clock.elapsed() + WAIT_MS,
        resolve: (value) => (settle(), resolve(value)),
        reject: (error) => (settle(), reject(error as Error)),
      };
      const onAbort = (): void => waiter.reject(signal.reason);
      const cancelTimer = this.#clock.after(WAIT_MS, () =>
        waiter.reject(new NotStarted(`the server is not connected: ${why()}`, { mayRetry: true })),
      );
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  resolve(value: T): void {
    for (const waiter of this.#waiters) waiter.resolve(value);
  }

  reject(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }

  /** An attempt failed, and the next one begins in `delayMs`: rejects those that would wait in vain. */
  attemptFailed(error: NotStarted, delayMs: number): void {
    const next = this.#clock.elapsed() + delayMs;
    for (const waiter of this.#waiters) if (!error.mayRetry || next >= waiter.until) waiter.reject(error);
  }
}
