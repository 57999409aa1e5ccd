import type { Log } from '../core/ports.ts';
import type { NodeRow, NodeTable } from './node-table.ts';
import type { TakenCalls } from './taken-calls.ts';

export interface TakeoversParts {
  readonly table: Pick<NodeTable, 'takeOver'>;
  readonly log: Log;
  readonly taken: Pick<TakenCalls, 'pass'>;
  /** False: this node has no lease, or is leaving. */
  readonly mayTakeOver: () => boolean;
}

/** Takes over the calls of nodes that are dead, and counts them. */
export class Takeovers {
  readonly #parts: TakeoversParts;
  /** The writers of the nodes that this one is taking over. */
  readonly #running: Set<number> = new Set();
  #nodes = 0;
  #calls = 0;

  constructor(parts: TakeoversParts) {
    this.#parts = parts;
  }

  get counts(): { readonly takeovers: number; readonly callsTakenOver: number } {
    return { takeovers: this.#nodes, callsTakenOver: this.#calls };
  }

  async run(node: NodeRow): Promise<void> {
    const { table, log, taken, mayTakeOver } = this.#parts;
    // Each heartbeat finds the node dead until the takeover is committed.
    if (!mayTakeOver() || this.#running.has(node.writer)) return;
    this.#running.add(node.writer);
    const ids = await table.takeOver(node).finally(() => this.#running.delete(node.writer));
    if (ids === null) return;
    this.#nodes += 1;
    this.#calls += ids.length;
    log.warn('cluster.took_over', { node: node.writer, holder: node.holder, calls: ids.length });
    await taken.pass(ids);
  }
}
