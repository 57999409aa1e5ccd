import type { DocumentChange, DocumentStore } from '../documents.ts';
import { messageOf } from '../failures.ts';
import type { Clock, Log } from '../ports.ts';

export interface KeyUsesParts {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the key is not revoked. */
  readonly isKnown: (keyId: string) => boolean;
}

/** The uses of all keys within this time are written together. */
const WRITE_AFTER_MS = 10_000;

/**
 * When each key was last used, as documents of their own: `report` returns at once, and the times are written later, without
 * a ledger row. Nodes that share a store write independently, and a later time is not replaced by an earlier one.
 */
export class KeyUses {
  readonly #parts: KeyUsesParts;
  /** Not written yet: epoch milliseconds by key id. */
  readonly #unwritten: Map<string, number> = new Map();
  #disarm: (() => void) | null = null;

  constructor(parts: KeyUsesParts) {
    this.#parts = parts;
  }

  report(keyId: string, at: number): void {
    this.#unwritten.set(keyId, at);
    this.#disarm ??= this.#parts.clock.after(WRITE_AFTER_MS, () => void this.flush());
  }

  /** Writes the reported times now. Never rejects: a time that could not be written is written with the next ones. */
  async flush(): Promise<void> {
    this.#disarm?.();
    this.#disarm = null;
    const due = new Map(this.#unwritten);
    if (due.size === 0) return;
    try {
      const [first, ...others] = await this.#newer(due);
      if (first !== undefined) {
        const { kind, id, body } = first;
        await this.#parts.store.putDocument(kind, id, body, [], others);
      }
      for (const [id, at] of due) if (this.#unwritten.get(id) === at) this.#unwritten.delete(id);
    } catch (error) {
      this.#parts.log.warn('key.use_not_written', { keys: due.size, error: messageOf(error) });
    }
  }

  /** The last use of every key that was ever used, on any node; epoch milliseconds by key id. */
  async read(): Promise<ReadonlyMap<string, number>> {
    const uses = await keyUsesIn(this.#parts.store);
    for (const [id, at] of this.#unwritten) uses.set(id, Math.max(at, uses.get(id) ?? 0));
    return uses;
  }

  /** Deletes the time of a revoked key. Never rejects: the key is revoked, whether its time is stored or not. */
  async forget(keyId: string): Promise<void> {
    const { store, log } = this.#parts;
    this.#unwritten.delete(keyId);
    try {
      await store.deleteDocument('key_use', keyId, []);
    } catch (error) {
      log.warn('key.use_not_written', { keys: 1, error: messageOf(error) });
    }
  }

  /** Another node may have written a later time, or revoked the key. */
  async #newer(due: ReadonlyMap<string, number>): Promise<(DocumentChange & { readonly body: string })[]> {
    const { store, isKnown } = this.#parts;
    const stored = await keyUsesIn(store);
    return [...due]
      .filter(([id, at]) => isKnown(id) && at > (stored.get(id) ?? 0))
      .map(([id, at]) => ({ kind: 'key_use', id, body: JSON.stringify({ at }) }));
  }
}

/** The stored times of all keys; epoch milliseconds by key id. */
export async function keyUsesIn(store: Pick<DocumentStore, 'documents'>): Promise<Map<string, number>> {
  const uses = new Map<string, number>();
  for (const { id, body } of await store.documents('key_use'))
    uses.set(id, (JSON.parse(body) as { readonly at: number }).at);
  return uses;
}
