interface Pending<Item> {
  /** The item as it is stored, as far as this node knows; null: another node has deleted it. */
  stored: Item | null;
}

export interface Revocation<Item> {
  readonly id: string;
  readonly item: Item;
  /** Takes the item out of force on this node. */
  readonly remove: () => void;
  /** Puts it in force again: the write has failed. */
  readonly restore: (item: Item) => void;
  readonly write: () => Promise<void>;
}

/**
 * Revocations whose write is under way. What is revoked has no effect from now on, also if the store is slow; changes of other
 * nodes that arrive meanwhile decide what holds if the write fails.
 */
export class PendingRevocations<Item> {
  readonly #pending: Map<string, Pending<Item>> = new Map();

  /** Rejects if the write fails, unless another node has deleted the item meanwhile: then it is revoked all the same. */
  async revoke({ id, item, remove, restore, write }: Revocation<Item>): Promise<void> {
    const pending: Pending<Item> = { stored: item };
    this.#pending.set(id, pending);
    remove();
    try {
      await write();
    } catch (error) {
      if (pending.stored === null) return;
      // Still stored, so the caller must be able to revoke it again.
      restore(pending.stored);
      throw error;
    } finally {
      this.#pending.delete(id);
    }
  }

  /** Notes a change of another node; `item` null: it was deleted. Returns false if the item is not being revoked here. */
  changed(id: string, item: Item | null): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    pending.stored = item;
    return true;
  }
}
