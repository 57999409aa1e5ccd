interface Pending<Item> {
  readonly item: Item;
}

export interface PendingWritesParts<Item> {
  readonly write: (items: readonly Item[]) => Promise<void>;
  /** False: the items stay pending for now. Default: always true. */
  readonly mayWrite?: () => boolean;
}

/** Items that one write takes. */
const AT_ONCE = 500;

/**
 * Items whose stored record is not as they are. Those of a write that failed stay pending until another one succeeds, see
 * `Repeated`; so does an item that was added again while it was written.
 */
export class PendingWrites<Item> {
  readonly #parts: PendingWritesParts<Item>;
  readonly #items: Map<string, Pending<Item>> = new Map();
  #running: Promise<void> = Promise.resolve();
  /** Begins when the running one has ended. */
  #next: Promise<void> | null = null;

  constructor(parts: PendingWritesParts<Item>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Replaces the pending item with this key. */
  add(key: string, item: Item): void {
    this.#items.set(key, { item });
  }

  /** Forgets the items of which `isStill` returns false. */
  keep(isStill: (key: string, item: Item) => boolean): void {
    for (const [key, { item }] of this.#items) if (!isStill(key, item)) this.#items.delete(key);
  }

  /** Writes what was added before. Callers of one turn share a write. Rejects if it fails. */
  flush(): Promise<void> {
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = null;
    this.#running = this.#writeAll();
    return this.#running;
  }

  async #writeAll(): Promise<void> {
    const { write, mayWrite = () => true } = this.#parts;
    while (this.#items.size > 0 && mayWrite()) {
      const some = [...this.#items].slice(0, AT_ONCE);
      await write(some.map(([, { item }]) => item));
      for (const [key, pending] of some) if (this.#items.get(key) === pending) this.#items.delete(key);
    }
  }
}
