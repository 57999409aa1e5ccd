import type { Call } from '../core/call/call.ts';
import { PendingWrites } from '../core/pending-writes.ts';
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

/**
 * Calls that other nodes may take and that are not yet marked as offered: there was no other node, or the write failed.
 * There are no more than this node holds, and those of the time since the last `offer`.
 */
export class PendingOffers {
  readonly #parts: PendingOffersParts;
  readonly #pending: PendingWrites<PendingOffer>;

  constructor(parts: PendingOffersParts) {
    this.#parts = parts;
    this.#pending = new PendingWrites({
      mayWrite: parts.hasOthers,
      write: async (calls) => {
        // Does nothing to a call that has moved since.
        await parts.table.offer(calls);
        if (calls.some(({ isWork }) => isWork)) parts.marked();
      },
    });
  }

  get size(): number {
    return this.#pending.size;
  }

  add(calls: readonly Pick<Call, 'id' | 'version' | 'clientId'>[]): void {
    for (const { id, version, clientId } of calls)
      this.#pending.add(id, { id, version, isWork: clientId === null });
  }

  /** Rejects if a write fails; the calls stay for the next time. */
  async offer(): Promise<void> {
    try {
      await this.#pending.flush();
    } finally {
      if (this.#pending.size > 0) this.#dropMoved();
    }
  }

  #dropMoved(): void {
    const held = new Map(Array.from(this.#parts.held(), ({ id, version }) => [id, version]));
    this.#pending.keep((id, { version }) => held.get(id) === version);
  }
}
