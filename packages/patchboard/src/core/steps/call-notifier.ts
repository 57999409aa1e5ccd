import { isOpen, type Call } from '../call/call.ts';
import { waitsForInput } from '../call/input.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Waiters } from '../call/waiters.ts';
import { messageOf } from '../failures.ts';
import type { Log } from '../ports.ts';
import type { ResponseCache } from './response-cache.ts';

export interface CallNotifierParts {
  readonly log: Log;
  readonly waiters: Waiters;
  readonly responses: ResponseCache;
}

/** Passes on what happened to a call: to the waits for it, to the response cache and to the listeners. */
export class CallNotifier {
  readonly #parts: CallNotifierParts;
  readonly #waiters: Waiters;
  readonly #responses: ResponseCache;
  readonly #endedListeners: Set<(call: Call) => void> = new Set();
  /** Of the drain: calls that end, or give up their slot to wait for input. */
  readonly #idleListeners: Set<() => void> = new Set();

  constructor(parts: CallNotifierParts) {
    this.#parts = parts;
    this.#waiters = parts.waiters;
    this.#responses = parts.responses;
  }

  onEnded(listener: (call: Call) => void): () => void {
    this.#endedListeners.add(listener);
    return () => {
      this.#endedListeners.delete(listener);
    };
  }

  /** Calls `listener` when a call no longer runs in this process, or its attempt has asked for input. */
  onIdle(listener: () => void): () => void {
    this.#idleListeners.add(listener);
    return () => {
      this.#idleListeners.delete(listener);
    };
  }

  ended(call: Call): void {
    this.#responses.ended(call);
    this.#waiters.wake(call);
    for (const listener of this.#endedListeners) listener(call);
    this.idle();
  }

  dropped(call: Call): void {
    this.#responses.dropped(call);
    this.#waiters.abandon(call.id);
  }

  /** Another node manages the call, or has ended it: only that node counts and logs the end. */
  movedElsewhere(call: Call): void {
    this.#responses.dropped(call);
    this.#waiters.seen(call);
    if (!isOpen(call)) this.#waiters.wake(call);
    else if (waitsForInput(call)) this.#waiters.inputRequired(call);
    else this.#waiters.inputGiven(call);
    this.idle();
  }

  /** An attempt of this process is over. */
  idle(): void {
    for (const listener of this.#idleListeners) listener();
  }

  inputRequired({ call, caller }: LiveCall): void {
    this.#waiters.inputRequired(call);
    this.idle();
    try {
      caller.onInputRequired?.(call);
    } catch (error) {
      this.#parts.log.error('call.listener_failed', { tool_call_id: call.id, error: messageOf(error) });
    }
  }

  /** This process has forgotten all calls: releases the waits. */
  fenced(): void {
    this.#waiters.close();
    this.idle();
  }
}
