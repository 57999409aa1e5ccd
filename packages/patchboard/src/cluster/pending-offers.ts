import type { Call } from '../core/call/call.ts';
import type { NodeTable } from './node-table.ts';

export interface PendingOffersParts {
  readonly table: Pick<NodeTable, 'offer'>;
  readonly hasOthers: () => boolean;
  /** The calls that this node holds, as they are now. */
  readonly held: () => Iterable<Pick<Call, 'id' | 'version'>>;
  /** Calls of server tools are marked: nodes with room may take them. */
  readonly marked: () => void;
}

interface PendingOffer {
  readonly id: string;
  readonly version: number;
  /** False: the call is for a client. */
  readonly isWork: boolean;
}

/** Calls that one statement marks. */
const AT_ONCE = 500;

/**
 * Calls that other nodes may take and that are not yet marked as offered: there was no other node, or the write failed.
 * There are no more than this node holds, and those of the time since the last `offer`.
 */
export class PendingOffers {
  readonly #parts: PendingOffersParts;
  #calls: Map<string, PendingOffer> = new Map();

  constructor(parts: PendingOffersParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(calls: readonly Pick<Call, 'id' | 'version' | 'clientId'>[]): void {
    for (const { id, version, clientId } of calls)
      this.#calls.set(id, { id, version, isWork: clientId === null });
  }

  /** Rejects if a write fails; the calls stay for the next time. One run at a time. */
  async offer(): Promise<void> {
    const { table, hasOthers, marked } = this.#parts;
    try {
      while (this.#calls.size > 0 && hasOthers()) {
        const some = [...this.#calls.values()].slice(0, AT_ONCE);
        // Does nothing to a call that has moved since.
        await table.offer(some);
        for (const call of some) if (this.#calls.get(call.id) === call) this.#calls.delete(call.id);
        if (some.some(({ isWork }) => isWork)) marked();
      }
    } finally {
      if (this.#calls.size > 0) this.#dropMoved();
    }
  }

  #dropMoved(): void {
    const kept: Map<string, PendingOffer> = new Map();
    for (const { id, version } of this.#parts.held()) {
      const call = this.#calls.get(id);
      if (call?.version === version) kept.set(id, call);
    }
    this.#calls = kept;
  }
}
