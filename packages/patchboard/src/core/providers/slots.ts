import { Counters } from '../counters.ts';

/** A semaphore, such as `run:run_001`, and its number of permits. */
export interface SlotKey {
  readonly name: string;
  readonly limit: number;
}

interface Waiter {
  readonly keys: readonly SlotKey[];
  readonly ready: () => void;
  waitsOn: string;
}

/** A place in the queue. */
export interface SlotWait {
  /** The name of the key that is lacking now. */
  waitsOn(): string;
  /** Leaves the queue. */
  leave(): void;
}

/**
 * Counting semaphores that are taken several at once, ordered from the narrowest to the widest. A waiter queues at the
 * first key it lacks, so that releasing a key only looks at that key's queue.
 */
export class Slots {
  readonly #held: Counters = new Counters();
  readonly #queues: Map<string, Set<Waiter>> = new Map();
  readonly #waiting: Counters = new Counters();
  /** Waiters that hold their keys, and whose `ready` is not called yet. */
  readonly #ready: Set<Waiter> = new Set();
  #isCalling = false;

  /** Returns the number of waiters that need this key. */
  waiting(name: string): number {
    return this.#waiting.of(name);
  }

  held(name: string): number {
    return this.#held.of(name);
  }

  /** Takes all keys now, or none. Never overtakes a waiter for one of them. */
  tryTake(keys: readonly SlotKey[]): boolean {
    if (this.#queues.size > 0 && keys.some((key) => this.#queues.has(key.name))) return false;
    if (this.#lacking(keys) !== null) return false;
    this.#take(keys);
    return true;
  }

  /** After `tryTake` returned false: calls `ready` once, when all keys are taken. */
  wait(keys: readonly SlotKey[], ready: () => void): SlotWait {
    const waiter: Waiter = { keys, ready, waitsOn: '' };
    for (const key of keys) this.#waiting.add(key.name, 1);
    this.#enqueue(waiter, this.#lacking(keys) ?? this.#firstQueue(keys));
    return {
      waitsOn: () => waiter.waitsOn,
      leave: () => {
        if (this.#leave(waiter)) this.#stopWaiting(waiter);
        else if (this.#ready.delete(waiter)) this.release(waiter.keys);
      },
    };
  }

  release(keys: readonly SlotKey[]): void {
    for (const key of keys) this.#held.add(key.name, -1);
    // The widest first, or a busy run would hand its tenant's slot to itself for ever.
    if (this.#queues.size > 0) for (const key of keys.toReversed()) this.#serve(key);
    if (this.#ready.size > 0) this.#callReady();
  }

  /** A waiter may release its keys at once. The waiters after it are called from here, as nested calls would fill the stack. */
  #callReady(): void {
    if (this.#isCalling) return;
    this.#isCalling = true;
    try {
      for (const waiter of this.#ready) {
        this.#ready.delete(waiter);
        waiter.ready();
      }
    } finally {
      this.#isCalling = false;
    }
  }

  #serve(key: SlotKey): void {
    const queue = this.#queues.get(key.name);
    if (queue === undefined) return;
    for (const waiter of queue) {
      if (this.held(key.name) >= key.limit) return;
      const lacking = this.#lacking(waiter.keys);
      if (lacking === key.name) return;
      this.#leave(waiter);
      if (lacking !== null) {
        this.#enqueue(waiter, lacking);
        continue;
      }
      this.#take(waiter.keys);
      this.#stopWaiting(waiter);
      this.#ready.add(waiter);
    }
  }

  #stopWaiting({ keys }: Waiter): void {
    for (const key of keys) this.#waiting.add(key.name, -1);
  }

  #take(keys: readonly SlotKey[]): void {
    for (const key of keys) this.#held.add(key.name, 1);
  }

  #lacking(keys: readonly SlotKey[]): string | null {
    for (const key of keys) if (this.held(key.name) >= key.limit) return key.name;
    return null;
  }

  #firstQueue(keys: readonly SlotKey[]): string {
    const key = keys.find((candidate) => this.#queues.has(candidate.name));
    if (key === undefined) throw new Error('wait() needs keys that tryTake() could not take');
    return key.name;
  }

  #enqueue(waiter: Waiter, name: string): void {
    waiter.waitsOn = name;
    const queue = this.#queues.get(name);
    if (queue === undefined) this.#queues.set(name, new Set([waiter]));
    else queue.add(waiter);
  }

  #leave(waiter: Waiter): boolean {
    const queue = this.#queues.get(waiter.waitsOn);
    if (queue?.delete(waiter) !== true) return false;
    if (queue.size === 0) this.#queues.delete(waiter.waitsOn);
    return true;
  }
}
