import type { DocumentChange } from '../documents.ts';
import { messageOf, storeFailure } from '../failures.ts';
import type { LedgerDraft } from '../ledger/ledger.ts';
import type { Clock, Log, Store } from '../ports.ts';
import type { Tasks } from '../tasks.ts';

export interface RegistryWritesParts {
  readonly store: Pick<Store, 'saveTools'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly tasks: Tasks;
  /** Whether this process stops: a write that fails is not repeated then. */
  readonly isClosed: () => boolean;
}

/** What changed in memory already: a ledger row, and the documents that a later start reads. */
interface RegistryWrite {
  readonly row: LedgerDraft;
  documents: readonly DocumentChange[];
}

/** How often a write that failed is repeated. */
const REPEAT_MS = 1000;

/**
 * Writes changes of the registry in the background, in order. A write for which the store has no room, or that does not
 * reach it, is repeated: a contract that is pinned in memory only would be forgotten by a restart, and another one accepted
 * in its place.
 */
export class RegistryWrites {
  readonly #parts: RegistryWritesParts;
  /** The first one is being written. */
  readonly #waiting: RegistryWrite[] = [];

  constructor(parts: RegistryWritesParts) {
    this.#parts = parts;
  }

  add(row: LedgerDraft, documents: readonly DocumentChange[]): void {
    const names = new Set(documents.map(nameOf));
    // Only the newest of each document is needed, so that a store that is away for long costs little memory.
    for (const earlier of this.#waiting.slice(1))
      earlier.documents = earlier.documents.filter((one) => !names.has(nameOf(one)));
    this.#waiting.push({ row, documents });
    if (this.#waiting.length === 1) this.#parts.tasks.start('registry.changed', () => this.#writeAll());
  }

  async #writeAll(): Promise<void> {
    const { store, clock, log, isClosed } = this.#parts;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await store.saveTools([], next.row, next.documents);
      } catch (error) {
        log.error('store.write_failed', { change: next.row.kind, error: messageOf(error) });
        if (isClosed()) return;
        // What the store cannot take at all must not hold up the others.
        if (storeFailure(error) !== null) {
          await new Promise<void>((resolve) => clock.after(REPEAT_MS, resolve));
          continue;
        }
      }
      this.#waiting.shift();
    }
  }
}

function nameOf({ kind, id }: DocumentChange): string {
  return `${kind} ${id}`;
}
