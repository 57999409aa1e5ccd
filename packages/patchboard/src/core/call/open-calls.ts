import { reason, type Reason } from '@patchboard/wire';
import type { Limits } from '../limits.ts';
import type { Call, OpenState } from './call.ts';
import { inputCharacters } from './input.ts';

type OpenCall = Call & { readonly state: OpenState };

/** Number and size of open calls. */
export interface OpenLoad {
  readonly calls: number;
  /** Length of their arguments, which are held in memory. */
  readonly characters: number;
  readonly byState: Readonly<Record<OpenState['name'], number>>;
}

interface Counts extends OpenLoad {
  calls: number;
  characters: number;
  readonly byState: Record<OpenState['name'], number>;
}

/** Number of tenants from which on those without open calls are removed. */
const FIRST_SWEEP = 1024;

/** Counts open calls per tenant and in total, updated with each move: reading a count needs no scan. */
export class OpenCalls {
  readonly #all: Counts = none();
  readonly #byTenant: Map<string, Counts> = new Map();
  #sweepAt = FIRST_SWEEP;

  get all(): OpenLoad {
    return this.#all;
  }

  of(tenant: string): OpenLoad {
    return this.#byTenant.get(tenant) ?? NONE;
  }

  add(call: OpenCall): void {
    const { tenant } = call;
    let counts = this.#byTenant.get(tenant);
    if (counts === undefined) {
      counts = none();
      this.#byTenant.set(tenant, counts);
      if (this.#byTenant.size > this.#sweepAt) this.#sweep(tenant);
    }
    count(counts, call, 1);
    count(this.#all, call, 1);
  }

  move(from: OpenCall, to: OpenCall): void {
    const counts = this.#byTenant.get(from.tenant);
    if (counts !== undefined) shift(counts, from, to);
    shift(this.#all, from, to);
  }

  remove(call: OpenCall): void {
    const counts = this.#byTenant.get(call.tenant);
    if (counts !== undefined) count(counts, call, -1);
    count(this.#all, call, -1);
  }

  /** Removes tenants without open calls. Done rarely and for many at once, because most have a new call soon. */
  #sweep(newest: string): void {
    for (const [tenant, { calls }] of this.#byTenant)
      if (calls === 0 && tenant !== newest) this.#byTenant.delete(tenant);
    // Twice as many as are in use, so that the cost of sweeping stays constant per new tenant.
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#byTenant.size * 2);
  }
}

/** Why open calls of the tenant may not hold that many more characters in memory; null if they may. */
export function roomProblem(
  open: Pick<OpenCalls, 'all' | 'of'>,
  { openBytesPerTenant, openBytesServer }: Pick<Limits, 'openBytesPerTenant' | 'openBytesServer'>,
  tenant: string,
  characters: number,
): Reason | null {
  if (open.of(tenant).characters + characters > openBytesPerTenant)
    return reason('open_bytes_of_tenant', { bytes: openBytesPerTenant });
  if (open.all.characters + characters > openBytesServer)
    return reason('open_bytes_of_server', { bytes: openBytesServer });
  return null;
}

function count(counts: Counts, call: OpenCall, change: 1 | -1): void {
  const { state } = call;
  counts.calls += change;
  counts.characters += change * charactersOf(call);
  counts.byState[state.name] += change;
}

function charactersOf(call: OpenCall): number {
  const { argsJson, inputs, offered } = call;
  return inputs.length === 0 && offered === undefined
    ? argsJson.length
    : argsJson.length + inputCharacters(call);
}

function shift(counts: Counts, from: OpenCall, to: OpenCall): void {
  counts.characters += charactersOf(to) - charactersOf(from);
  counts.byState[from.state.name] -= 1;
  counts.byState[to.state.name] += 1;
}

function none(): Counts {
  return {
    calls: 0,
    characters: 0,
    byState: { PENDING: 0, APPROVAL_REQUIRED: 0, APPROVED: 0, EXECUTING: 0, INPUT_REQUIRED: 0 },
  };
}

const NONE: OpenLoad = none();
