import type { NodeTable, OfferedCall } from './node-table.ts';
import type { TakenCalls } from './taken-calls.ts';

export interface OfferedCallsParts {
  readonly table: Pick<NodeTable, 'offered' | 'takeOffered'>;
  readonly taken: Pick<TakenCalls, 'passFromOthers'>;
  /** How many more calls of the tenant, or with null of all tenants, this node can run now. */
  readonly room: (tenant: string | null) => number;
  readonly hasTool: (tenant: string, toolName: string, toolVersion: string) => boolean;
}

/** Offered calls that one statement reads. */
const AT_ONCE = 200;
/** Statements of one pass. The next pass continues where it ended. */
const STATEMENTS = 5;

/**
 * Takes calls that wait for a slot of another node, as many as this node has room for. Calls that it cannot run, however many and
 * however old, do not hide others: each pass continues behind those that earlier passes have seen.
 */
export class OfferedCalls {
  readonly #parts: OfferedCallsParts;
  /** The last call that was read; empty: the next pass begins with the oldest call. */
  #after = '';

  constructor(parts: OfferedCallsParts) {
    this.#parts = parts;
  }

  async take(): Promise<void> {
    const { table, taken, room } = this.#parts;
    if (room(null) <= 0) return;
    const ids = inTurn(await this.#possible(), room).map(({ id }) => id);
    await taken.passFromOthers(await table.takeOffered(ids));
  }

  /** Reads until there are more calls than this node has room for, or none is left. */
  async #possible(): Promise<OfferedCall[]> {
    const { table, room, hasTool } = this.#parts;
    const possible: OfferedCall[] = [];
    for (let statement = 0; statement < STATEMENTS; statement += 1) {
      const some = await table.offered(AT_ONCE, this.#after);
      for (const call of some)
        if (room(call.tenant) > 0 && hasTool(call.tenant, call.toolName, call.toolVersion))
          possible.push(call);
      const isEnough = inTurn(possible, room).length >= room(null);
      const last = some.length < AT_ONCE ? undefined : some.at(-1);
      this.#after = isEnough ? '' : (last?.id ?? '');
      if (this.#after === '') break;
    }
    return possible;
  }
}

/** Chooses the calls to take: one of each tenant in turn, the oldest first. */
function inTurn(calls: readonly OfferedCall[], room: OfferedCallsParts['room']): OfferedCall[] {
  const byTenant: Map<string, OfferedCall[]> = new Map();
  for (const call of calls) {
    const others = byTenant.get(call.tenant);
    if (others === undefined) byTenant.set(call.tenant, [call]);
    else others.push(call);
  }
  const queues = Array.from(byTenant, ([tenant, some]) => some.slice(0, Math.max(0, room(tenant))));
  const chosen: OfferedCall[] = [];
  for (let place = 0; queues.some(({ length }) => length > place); place += 1)
    for (const queue of queues) chosen.push(...queue.slice(place, place + 1));
  return chosen.slice(0, Math.max(0, room(null)));
}
