import { isTerminal, type CallStateName } from '@patchboard/wire';
import type { StateCounts } from '../core/ports.ts';

type Counts = Partial<Record<CallStateName, number>>;

type Change = readonly [tenant: string, state: CallStateName, change: number];

/** The number of ended calls per tenant and state, updated when calls end and are removed. */
export class EndedCounts {
  readonly #byTenant: Map<string, Counts> = new Map();
  #all: Counts = {};
  /** Changes since the last `committed`; null if `save` was never called. */
  #changes: Change[] | null = null;

  get all(): StateCounts {
    return this.#all;
  }

  of(tenant: string): StateCounts {
    return this.#byTenant.get(tenant) ?? {};
  }

  /** Ignores open calls. An ended call never changes its state again, so it is counted once. */
  add(tenant: string, state: CallStateName, change: number): void {
    if (!isTerminal(state)) return;
    this.#changes?.push([tenant, state, change]);
    this.#apply(tenant, state, change);
  }

  /** Returns a function that reverts all changes from now on, for a transaction, or a part of one, that fails. */
  save(): () => void {
    const changes = (this.#changes ??= []);
    const first = changes.length;
    return () => {
      for (const [tenant, state, change] of changes.splice(first)) this.#apply(tenant, state, -change);
    };
  }

  /** No change so far is reverted any more. */
  committed(): void {
    if (this.#changes !== null) this.#changes.length = 0;
  }

  #apply(tenant: string, state: CallStateName, change: number): void {
    let counts = this.#byTenant.get(tenant);
    if (counts === undefined) {
      counts = {};
      this.#byTenant.set(tenant, counts);
    }
    addTo(counts, state, change);
    addTo(this.#all, state, change);
  }
}

function addTo(counts: Counts, state: CallStateName, change: number): void {
  const count = (counts[state] ?? 0) + change;
  if (count === 0) delete counts[state];
  else counts[state] = count;
}
