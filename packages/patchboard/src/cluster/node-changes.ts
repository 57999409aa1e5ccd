import type { Log } from '../core/ports.ts';
import type { NodeRow } from './node-table.ts';

/** What changed among the nodes since the last heartbeat. */
export class NodeChanges {
  readonly #fingerprint: () => string | null;
  readonly #log: Log;
  /** The epoch of each writer's holder at the last heartbeat. Free writers are absent. */
  #held: ReadonlyMap<number, number> = new Map();
  /** The epoch of each writer whose holder has another configuration. */
  readonly #different: Map<number, number> = new Map();

  /** `fingerprint`: of this node; null while it is not known. */
  constructor(fingerprint: () => string | null, log: Log) {
    this.#fingerprint = fingerprint;
    this.#log = log;
  }

  /** Returns whether a node is gone: it may have given its calls to another one. */
  update(nodes: readonly NodeRow[]): boolean {
    const held = new Map(
      nodes.flatMap(({ writer, epoch, state }) => (state === 'free' ? [] : [[writer, epoch] as const])),
    );
    const isGone = [...this.#held].some(([writer, epoch]) => held.get(writer) !== epoch);
    this.#held = held;
    for (const node of nodes) this.#compareConfig(node);
    return isGone;
  }

  /** Logs each node once that was started with another configuration. */
  #compareConfig({ writer, epoch, state, fingerprint, holder }: NodeRow): void {
    const own = this.#fingerprint();
    if (state === 'free' || fingerprint === null || own === null || fingerprint === own) return;
    if (this.#different.get(writer) === epoch) return;
    this.#different.set(writer, epoch);
    this.#log.warn('cluster.config_differs', { node: writer, holder });
  }
}
