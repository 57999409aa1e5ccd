import { nothing } from '../call/live-call.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import { Repeated } from '../repeated.ts';
import type { Pools } from './pools.ts';

export interface WithdrawnToolsParts {
  readonly store: Pick<Store, 'removeTools'>;
  readonly pools: Pick<Pools, 'of'>;
  readonly clock: Clock;
  /** Timers that end with this process: then nothing is repeated. */
  readonly after: (ms: number, action: () => void) => () => void;
  /** Whether this process stops or is fenced. */
  readonly isClosed: () => boolean;
}

/** Tools of a client that no device of this node offers any more. */
export interface Withdrawal {
  readonly tenant: string;
  readonly clientId: string;
  readonly names: readonly string[];
}

/** How often a write that failed is repeated. */
const REPEAT_MS = 1000;

/** With other nodes: removes what devices of this node no longer offer from the store. */
export class WithdrawnTools {
  readonly #parts: WithdrawnToolsParts;
  /** Those that the store still has, because the write failed. */
  readonly #pending: Set<Withdrawal> = new Set();
  /** Runs from a write that failed until all have succeeded. */
  readonly #repeated: Repeated;

  constructor(parts: WithdrawnToolsParts) {
    this.#parts = parts;
    const timers = { after: parts.after, elapsed: () => parts.clock.elapsed() };
    this.#repeated = new Repeated(timers, REPEAT_MS, () => this.#repeat());
  }

  /** Rejects if the write fails; it is repeated then. Otherwise the other nodes would list the tools as online. */
  async remove(withdrawal: Withdrawal): Promise<void> {
    try {
      await this.#write(withdrawal);
    } catch (error) {
      if (!this.#parts.isClosed()) {
        this.#pending.add(withdrawal);
        this.#repeated.start();
      }
      throw error;
    }
  }

  async #repeat(): Promise<void> {
    for (const withdrawal of this.#pending) {
      const names = withdrawal.names.filter((name) => !this.#isOffered(withdrawal.tenant, name));
      try {
        if (names.length > 0) await this.#write({ ...withdrawal, names });
      } catch {
        // The caller of `remove` got the error of the first attempt.
        return;
      }
      this.#pending.delete(withdrawal);
    }
    // Not awaited, because it waits for this run.
    this.#repeated.stop().catch(nothing);
  }

  async #write({ tenant, clientId, names }: Withdrawal): Promise<void> {
    const { store, clock } = this.#parts;
    const row = plainRow('registry.changed', tenant, clock.now(), { client_id: clientId, removed: names });
    const keys = names.map((name) => ({ tenant, name }));
    await store.removeTools(keys, row, [], true);
  }

  /** A device of this node may have registered it again: that has replaced what is stored. */
  #isOffered(tenant: string, name: string): boolean {
    return (this.#parts.pools.of(tenant, name)?.devices.size ?? 0) > 0;
  }
}
