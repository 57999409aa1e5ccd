import type { Call } from '../core/call/call.ts';
import type { Bus } from './bus.ts';
import type { CallPlace, NodeTable } from './node-table.ts';

export type Take = (calls: AsyncIterable<Call>) => Promise<void>;

/** Passes the calls that this node has taken to the engine, one group after the other. */
export class TakenCalls {
  readonly #table: NodeTable;
  readonly #bus: Bus;
  #take: Take | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(table: NodeTable, bus: Bus) {
    this.#table = table;
    this.#bus = bus;
  }

  /** Calls `take` with the calls that were taken for this node before its start, and then with all later ones. */
  async begin(take: Take): Promise<void> {
    // Set first: calls that are taken while the earlier ones are read are passed after them.
    this.#take = take;
    const taking = this.#table
      .takenCalls()
      .then((calls) => take(this.#table.calls(calls.map(({ id }) => id))));
    this.#last = taking.catch(() => {}); // The caller gets the error.
    await taking;
  }

  /** Before `begin` the calls keep their mark, so that `begin` finds them. */
  async pass(ids: readonly string[]): Promise<void> {
    const take = this.#take;
    if (take === null || ids.length === 0) return;
    const passing = this.#last.then(() => take(this.#table.calls(ids)));
    this.#last = passing.catch(() => {}); // The caller gets the error.
    await passing;
  }

  /** Passes calls that living nodes held before: these stop their work. */
  async passFromOthers(places: readonly CallPlace[]): Promise<void> {
    if (places.length === 0) return;
    this.#bus.send('all', { kind: 'moved', calls: places.map(({ id, version }) => [id, version]) });
    await this.pass(places.map(({ id }) => id));
  }

  /**
   * Passes calls that are marked as taken and that this node does not hold: given by another node, or a lost reply. It may
   * hold an older version of a call that it has lost without a notification and got back.
   */
  async passMissing(heldVersions: () => ReadonlyMap<string, number>): Promise<void> {
    const calls = await this.#table.takenCalls();
    if (calls.length === 0) return;
    const held = heldVersions();
    const missing = calls.filter(({ id, version }) => version > (held.get(id) ?? 0));
    await this.pass(missing.map(({ id }) => id));
  }
}
