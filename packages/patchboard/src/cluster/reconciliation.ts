import type { WatchedCalls } from '../core/peers.ts';
import type { CallPlace, NodeTable } from './node-table.ts';

export type Refresh = (callId: string, version: number) => void;

export interface ReconciliationParts {
  readonly table: NodeTable;
  readonly refresh: Refresh;
  readonly watched: () => WatchedCalls;
}

/** Calls whose places one statement reads. */
const AT_ONCE = 500;

/** Compares the calls that this node holds or awaits with the store: notifications may have been lost. */
export class Reconciliation {
  readonly #parts: ReconciliationParts;

  constructor(parts: ReconciliationParts) {
    this.#parts = parts;
  }

  /** The calls that this node holds: the version of each by its id. */
  held(): ReadonlyMap<string, number> {
    return new Map(Array.from(this.#parts.watched().held, ({ id, version }) => [id, version]));
  }

  /** Calls of this node to which another one has recorded a response. */
  async compareMoved(): Promise<void> {
    const { table, refresh } = this.#parts;
    for (const { id, version } of await table.movedByOthers()) refresh(id, version);
  }

  /** Calls that requests to this node wait for, also those that it holds. */
  async compareAwaited(): Promise<void> {
    const { refresh, watched } = this.#parts;
    const known = new Map(Array.from(watched().awaited, ({ id, version }) => [id, version] as const));
    const own = this.held();
    await this.#compareOwn([...known.keys()].filter((id) => own.has(id)));
    const others = [...known.keys()].filter((id) => !own.has(id));
    await this.#compare(others, (id, place) => {
      const version = versionOf(place);
      if (version > (known.get(id) ?? 0)) refresh(id, version);
    });
  }

  /** Calls that this node holds. */
  async compareHeld(): Promise<void> {
    await this.#compareOwn([...this.held().keys()]);
  }

  /** A stored call of this node is left alone, even if it is newer than in memory: its move is being committed. */
  async #compareOwn(ids: readonly string[]): Promise<void> {
    const { table, refresh } = this.#parts;
    await this.#compare(ids, (id, place) => {
      if (place?.owner !== table.self.writer) refresh(id, versionOf(place));
    });
  }

  async #compare(
    ids: readonly string[],
    compare: (id: string, place: CallPlace | undefined) => void,
  ): Promise<void> {
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const places = new Map((await this.#parts.table.places(some)).map((place) => [place.id, place]));
      for (const id of some) compare(id, places.get(id));
    }
  }
}

function versionOf(place: CallPlace | undefined): number {
  return place?.isOpen === true ? place.version : Infinity;
}
