import type { Call } from './call.ts';
import { nothing } from './live-call.ts';
import type { TimerWheel } from '../timer-wheel.ts';

/** Those who wait for calls to end. Woken by the ending itself; the store is never polled. */
export class Waiters {
  readonly #wheel: TimerWheel;
  readonly #waiting: Map<string, Set<(call: Call | null) => void>> = new Map();
  #isClosed = false;

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  /** The ended call, or null when the time is over, or nobody listens any more: `signal` says so, or the close. */
  wait(id: string, ms: number, signal?: AbortSignal): Promise<Call | null> {
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve(null);
    return new Promise((resolve) => {
      const finish = (call: Call | null): void => {
        disarm();
        signal?.removeEventListener('abort', giveUp);
        const mine = this.#waiting.get(id);
        mine?.delete(finish);
        if (mine?.size === 0) this.#waiting.delete(id);
        resolve(call);
      };
      const giveUp = (): void => finish(null);
      const disarm = ms === Infinity ? nothing : this.#wheel.after(ms, giveUp);
      signal?.addEventListener('abort', giveUp);
      const others = this.#waiting.get(id);
      if (others === undefined) this.#waiting.set(id, new Set([finish]));
      else others.add(finish);
    });
  }

  wake(call: Call): void {
    for (const finish of this.#waiting.get(call.id) ?? []) finish(call);
  }

  /** The call is stored no more: nothing will end it. */
  giveUp(id: string): void {
    for (const finish of this.#waiting.get(id) ?? []) finish(null);
  }

  /** Everybody goes home with what there is, and nobody waits from now on. */
  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting.values()) for (const finish of waiting) finish(null);
  }
}
