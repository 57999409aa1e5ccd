import type { NodeRow } from './node-table.ts';
import { LEASE_MS, LOOKS, SILENT_MS, WELL_WITHIN_MS } from './timing.ts';

interface Watched {
  readonly row: NodeRow;
  /** When this heartbeat was seen first, monotonic. */
  readonly since: number;
  looks: number;
}

/**
 * Decides which nodes are dead: those whose heartbeat stood still for the lease, on this node's monotonic clock, over several
 * looks while this node itself was well. No wall clock is compared.
 */
export class PeerWatch {
  readonly #self: number;
  #watched: Map<number, Watched> = new Map();
  #lastLook = -Infinity;

  constructor(self: number) {
    this.#self = self;
  }

  /** Takes what a heartbeat of this node has read, and when it was sent and received. Returns the nodes that are dead. */
  look(nodes: readonly NodeRow[], sentAt: number, receivedAt: number): readonly NodeRow[] {
    const isWell = receivedAt - this.#lastLook <= WELL_WITHIN_MS && receivedAt - sentAt <= WELL_WITHIN_MS;
    // After a pause of this node, or of the database, all others may have missed heartbeats too.
    if (!isWell) this.reset();
    this.#lastLook = receivedAt;
    const watched = new Map<number, Watched>();
    for (const row of nodes) {
      if (row.writer === this.#self || row.state === 'free') continue;
      const before = this.#watched.get(row.writer);
      const isSame = before?.row.epoch === row.epoch && before.row.beat === row.beat;
      watched.set(row.writer, {
        row,
        since: isSame ? before.since : receivedAt,
        looks: isSame ? before.looks + 1 : 1,
      });
    }
    this.#watched = watched;
    return [...watched.values()].flatMap(({ row, since, looks }) =>
      looks >= LOOKS && sentAt - since >= LEASE_MS ? [row] : [],
    );
  }

  /** The next look is the first one of every node: this node could not look, or not in time. */
  reset(): void {
    this.#watched.clear();
  }

  /** When the present heartbeat of the writer was seen first, monotonic; null if no node holds the writer. */
  seenAt(writer: number): number | null {
    return this.#watched.get(writer)?.since ?? null;
  }

  /** The writers among `nodes` that no living node holds, or whose heartbeat stands still at this time. */
  silent(nodes: readonly NodeRow[], now: number): readonly number[] {
    return nodes.flatMap(({ writer, state }) => {
      const watched = this.#watched.get(writer);
      // After a reset nothing is known of a node that holds its writer.
      const isSilent =
        watched === undefined ? state === 'free' : watched.looks > 1 && now - watched.since >= SILENT_MS;
      return writer !== this.#self && isSilent ? [writer] : [];
    });
  }
}
