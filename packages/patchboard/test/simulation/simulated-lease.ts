import type { NodeRow } from './simulated-node-table.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { StoreConnection } from './simulated-store.ts';

const BEAT_MS = 300;
/** A node whose heartbeat stands still for this long, on the monotonic clock of another node, is taken over. */
export const LEASE_MS = 1500;
/** Heartbeats that another node must have read meanwhile. */
const LOOKS = 3;

interface Seen {
  readonly epoch: number;
  readonly beat: number;
  readonly since: number;
  looks: number;
}

/** The heartbeat of one process, and its view of the heartbeats of others. */
export class Lease {
  readonly #process: SimulatedProcess;
  readonly #connection: StoreConnection;
  readonly #room: () => number;
  readonly #takeOver: (row: NodeRow) => void;
  readonly #seen: Map<string, Seen> = new Map();
  /** When the last heartbeat that succeeded was sent. */
  #beatAt: number;
  #isFenced = false;

  constructor(
    process: SimulatedProcess,
    connection: StoreConnection,
    room: () => number,
    takeOver: (row: NodeRow) => void,
  ) {
    this.#process = process;
    this.#connection = connection;
    this.#room = room;
    this.#takeOver = takeOver;
    this.#beatAt = process.clock.elapsed();
    connection.onFenced(() => {
      this.#isFenced = true;
    });
  }

  get isFenced(): boolean {
    return this.#isFenced;
  }

  get isHeld(): boolean {
    return !this.#isFenced && this.#process.clock.elapsed() - this.#beatAt < LEASE_MS / 2;
  }

  start(every: (work: () => Promise<void>, ms: number) => void): void {
    every(() => this.#beat(), BEAT_MS);
  }

  async #beat(): Promise<void> {
    const sentAt = this.#process.clock.elapsed();
    const { node } = this.#process;
    const room = this.#room();
    try {
      const rows = await this.#connection.transact(true, () => this.#connection.nodes.beat(node, room));
      this.#beatAt = Math.max(this.#beatAt, sentAt);
      for (const row of rows) if (row.node !== node) this.#watch(row);
    } catch (error) {
      // After an outage the others are watched anew: it must not count against them.
      this.#seen.clear();
      throw error;
    }
  }

  #watch(row: NodeRow): void {
    const now = this.#process.clock.elapsed();
    const { node, epoch, beat, state } = row;
    const seen = this.#seen.get(node);
    if (state !== 'held') this.#seen.delete(node);
    else if (seen?.epoch !== epoch || seen.beat !== beat)
      this.#seen.set(node, { epoch, beat, since: now, looks: 0 });
    else {
      seen.looks += 1;
      if (seen.looks < LOOKS || now - seen.since < LEASE_MS) return;
      this.#seen.delete(node);
      this.#takeOver(row);
    }
  }
}
