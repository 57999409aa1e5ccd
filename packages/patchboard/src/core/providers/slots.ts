import { Counters } from '../counters.ts';

/** One thing that is limited, such as `run:run_001`, and how many may hold it at once. */
export interface SlotKey {
  readonly name: string;
  readonly limit: number;
}

interface Waiter {
  readonly keys: readonly SlotKey[];
  readonly ready: () => void;
  waitsOn: string;
}

/**
 * Counts who holds what. A taker needs all of its keys at once, the narrowest named first. A waiter stands in the line of the first key it
 * lacks, so that giving back a key looks at that key's line only.
 */
export class Slots {
  readonly #held: Counters = new Counters();
  readonly #lines: Map<string, Set<Waiter>> = new Map();
  readonly #waiting: Counters = new Counters();

  /** How many wait for this and whatever else they need. */
  waiting(name: string): number {
    return this.#waiting.of(name);
  }

  held(name: string): number {
    return this.#held.of(name);
  }

  /** Takes all keys now, or nothing. Never overtakes somebody who waits for one of them. */
  tryTake(keys: readonly SlotKey[]): boolean {
    if (this.#lines.size > 0 && keys.some((key) => this.#lines.has(key.name))) return false;
    if (this.#lacking(keys) !== null) return false;
    this.#take(keys);
    return true;
  }

  /** After `tryTake` said no: calls `ready` later, once, holding all keys. The answer leaves the line. */
  wait(keys: readonly SlotKey[], ready: () => void): () => void {
    const waiter: Waiter = { keys, ready, waitsOn: '' };
    for (const key of keys) this.#waiting.add(key.name, 1);
    this.#lineUp(waiter, this.#lacking(keys) ?? this.#firstLine(keys));
    return () => {
      if (this.#leave(waiter)) this.#stopWaiting(waiter);
    };
  }

  give(keys: readonly SlotKey[]): void {
    for (const key of keys) this.#held.add(key.name, -1);
    // The widest first, or a busy run would hand its tenant's slot to itself for ever.
    if (this.#lines.size > 0) for (const key of keys.toReversed()) this.#serve(key);
  }

  #serve(key: SlotKey): void {
    const line = this.#lines.get(key.name);
    if (line === undefined) return;
    for (const waiter of line) {
      if (this.held(key.name) >= key.limit) return;
      const lacking = this.#lacking(waiter.keys);
      if (lacking === key.name) return;
      this.#leave(waiter);
      if (lacking !== null) {
        this.#lineUp(waiter, lacking);
        continue;
      }
      this.#take(waiter.keys);
      this.#stopWaiting(waiter);
      waiter.ready();
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

  #firstLine(keys: readonly SlotKey[]): string {
    const key = keys.find((candidate) => this.#lines.has(candidate.name));
    if (key === undefined) throw new Error('nothing to wait for');
    return key.name;
  }

  #lineUp(waiter: Waiter, name: string): void {
    waiter.waitsOn = name;
    const line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, new Set([waiter]));
    else line.add(waiter);
  }

  #leave(waiter: Waiter): boolean {
    const line = this.#lines.get(waiter.waitsOn);
    if (line?.delete(waiter) !== true) return false;
    if (line.size === 0) this.#lines.delete(waiter.waitsOn);
    return true;
  }
}
