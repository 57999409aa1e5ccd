import type { WatchedCall } from '../peers.ts';
import type { Call } from './call.ts';
import { nothing } from './live-call.ts';
import type { TimerWheel } from '../timer-wheel.ts';

export interface WaitOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the wait also when the call waits for input from its caller. */
  readonly untilInput?: boolean;
  /** Ends the wait also when the caller responds to an input request. */
  readonly untilInputGiven?: boolean;
}

interface Waiter {
  readonly finish: (call: Call | null) => void;
  readonly untilInput: boolean;
  readonly untilInputGiven: boolean;
}

interface Awaited {
  /** The newest version of the call that its waiters know. */
  version: number;
  readonly waiters: Set<Waiter>;
}

/** Pending waits for the end of calls (long polls). They are resolved when a call ends; the store is never polled. */
export class Waiters {
  readonly #wheel: TimerWheel;
  readonly #waiting: Map<string, Awaited> = new Map();
  #isClosed = false;

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  /** Resolves to the ended call, or to null when `ms` have passed, `signal` aborts or this object is closed. */
  wait({ id, version }: WatchedCall, ms: number, options: WaitOptions = {}): Promise<Call | null> {
    const { signal, untilInput = false, untilInputGiven = false } = options;
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve(null);
    return new Promise((resolve) => {
      const finish = (call: Call | null): void => {
        disarm();
        signal?.removeEventListener('abort', abandon);
        const waiting = this.#waiting.get(id);
        waiting?.waiters.delete(waiter);
        if (waiting?.waiters.size === 0) this.#waiting.delete(id);
        resolve(call);
      };
      const waiter = { finish, untilInput, untilInputGiven };
      const abandon = (): void => finish(null);
      const disarm = ms === Infinity ? nothing : this.#wheel.after(ms, abandon);
      signal?.addEventListener('abort', abandon);
      const others = this.#waiting.get(id);
      if (others === undefined) this.#waiting.set(id, { version, waiters: new Set([waiter]) });
      else others.waiters.add(waiter);
    });
  }

  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** The calls that are waited for, at the versions that their waiters know. */
  *awaited(): Iterable<WatchedCall> {
    for (const [id, { version }] of this.#waiting) yield { id, version };
  }

  /** Another node has moved the call. */
  seen({ id, version }: Call): void {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) waiting.version = Math.max(waiting.version, version);
  }

  wake(call: Call): void {
    for (const { finish } of this.#of(call.id)) finish(call);
  }

  /** The call waits for input from its caller. */
  inputRequired(call: Call): void {
    for (const { finish, untilInput } of this.#of(call.id)) if (untilInput) finish(call);
  }

  /** The caller has responded to an input request of the call. */
  inputGiven(call: Call): void {
    for (const { finish, untilInputGiven } of this.#of(call.id)) if (untilInputGiven) finish(call);
  }

  /** Resolves the waits for a call whose row is gone from the store, to null. */
  abandon(id: string): void {
    for (const { finish } of this.#of(id)) finish(null);
  }

  /** Resolves all waits to null; later calls of `wait` resolve to null at once. */
  close(): void {
    this.#isClosed = true;
    for (const { waiters } of this.#waiting.values()) for (const { finish } of waiters) finish(null);
  }

  #of(id: string): Iterable<Waiter> {
    return this.#waiting.get(id)?.waiters ?? [];
  }
}
