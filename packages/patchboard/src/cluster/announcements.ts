import type { Clock } from '../core/ports.ts';
import type { Bus } from './bus.ts';
import type { NodeRow } from './node-table.ts';
import { ANNOUNCE_MS } from './timing.ts';

export interface AnnouncementsParts {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Other nodes that hold a writer. */
  readonly others: () => readonly NodeRow[];
}

interface Waiting {
  readonly revision: number;
  readonly resolve: () => void;
}

/** Announces the revision of documents and tools that this node has applied to the other nodes, and waits for theirs. */
export class Announcements {
  readonly #parts: AnnouncementsParts;
  /** The newest revision that each writer has announced. A later holder of the writer has applied at least that. */
  readonly #applied: Map<number, number> = new Map();
  readonly #waiting: Set<Waiting> = new Set();
  #catchUp: (() => Promise<number>) | null = null;
  #revision = 0;

  constructor(parts: AnnouncementsParts) {
    this.#parts = parts;
  }

  /** The newest revision that this node has applied. */
  get revision(): number {
    return this.#revision;
  }

  onAnnounced(catchUp: () => Promise<number>): void {
    this.#catchUp = catchUp;
  }

  async announce(revision: number): Promise<void> {
    this.#revision = Math.max(this.#revision, revision);
    const { bus, clock } = this.#parts;
    if (this.#hasArrived(revision)) return;
    bus.send('all', { kind: 'config', revision });
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ANNOUNCE_MS, () => waiting.resolve());
      const waiting: Waiting = {
        revision,
        resolve: () => {
          cancel();
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      this.#waiting.add(waiting);
    });
  }

  /** Another node has applied the revision. */
  async received(from: number, revision: number): Promise<void> {
    this.#applied.set(from, Math.max(revision, this.#applied.get(from) ?? 0));
    this.check();
    if (revision <= this.#revision) return;
    await this.catchUp();
    this.#parts.bus.send(from, { kind: 'config', revision: this.#revision });
  }

  async catchUp(): Promise<void> {
    if (this.#catchUp !== null) this.#revision = Math.max(this.#revision, await this.#catchUp());
  }

  /** Ends the waits that are over: nodes have applied more, or are gone. */
  check(): void {
    for (const waiting of this.#waiting) if (this.#hasArrived(waiting.revision)) waiting.resolve();
  }

  #hasArrived(revision: number): boolean {
    return this.#parts
      .others()
      .every((node) => Math.max(node.revision, this.#applied.get(node.writer) ?? 0) >= revision);
  }
}
