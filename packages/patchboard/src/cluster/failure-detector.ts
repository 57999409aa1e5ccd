import type { NodeRow } from './node-table.ts';
import { LEASE_MS, MIN_OBSERVATIONS, OBSERVE_WITHIN_MS, SILENT_MS } from './timing.ts';

interface Observed {
  readonly row: NodeRow;
  /** When this heartbeat was seen first, monotonic. */
  readonly since: number;
  /** How many observations found this heartbeat. */
  count: number;
}

/**
 * Failure detector: a node is dead if its heartbeat stood still for the lease, on this node's monotonic clock, over several
 * observations that this node made in time. No wall clock is compared.
 */
export class FailureDetector {
  readonly #self: number;
  readonly #late: (ms: number) => void;
  #observed: Map<number, Observed> = new Map();
  #lastAt = -Infinity;

  /** `late`: called if an observation came too late after the one before, or took too long, so that it shows nothing. */
  constructor(self: number, late: (ms: number) => void = () => {}) {
    this.#self = self;
    this.#late = late;
  }

  /** Takes what a heartbeat of this node has read, and when it was sent and received. Returns the nodes that are dead. */
  observe(nodes: readonly NodeRow[], sentAt: number, receivedAt: number): readonly NodeRow[] {
    const ms = receivedAt - Math.min(this.#lastAt, sentAt);
    // After a pause of this node, or of the database, all others may have missed heartbeats too.
    if (ms > OBSERVE_WITHIN_MS) {
      if (ms !== Infinity) this.#late(ms);
      this.reset();
    }
    this.#lastAt = receivedAt;
    const observed = new Map<number, Observed>();
    for (const row of nodes) {
      if (row.writer === this.#self || row.state === 'free') continue;
      const before = this.#observed.get(row.writer);
      const isSame = before?.row.epoch === row.epoch && before.row.beat === row.beat;
      observed.set(row.writer, {
        row,
        since: isSame ? before.since : receivedAt,
        count: isSame ? before.count + 1 : 1,
      });
    }
    this.#observed = observed;
    return [...observed.values()].flatMap(({ row, since, count }) =>
      count >= MIN_OBSERVATIONS && sentAt - since >= LEASE_MS ? [row] : [],
    );
  }

  /** Discards all observations, because this node could not observe for a time: heartbeats that it missed prove nothing. */
  reset(): void {
    this.#observed.clear();
    this.#lastAt = -Infinity;
  }

  /** When the present heartbeat of the writer was seen first, monotonic; null if no node holds the writer. */
  seenAt(writer: number): number | null {
    return this.#observed.get(writer)?.since ?? null;
  }

  /** The writers among `nodes` that no living node holds, or whose heartbeat stands still at this time. */
  silent(nodes: readonly NodeRow[], now: number): readonly number[] {
    return nodes.flatMap(({ writer, state }) => {
      const observed = this.#observed.get(writer);
      // After a reset nothing is known of a node that holds its writer.
      const isSilent =
        observed === undefined ? state === 'free' : observed.count > 1 && now - observed.since >= SILENT_MS;
      return writer !== this.#self && isSilent ? [writer] : [];
    });
  }
}
