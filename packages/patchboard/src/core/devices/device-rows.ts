import type { Lifecycle } from '../call/lifecycle.ts';
import { storeFailure } from '../failures.ts';
import { plainRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import type { Device } from './device.ts';

export interface DeviceRowsParts {
  readonly store: Pick<Store, 'append'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly tasks: Tasks;
  readonly lifecycle: Pick<Lifecycle, 'isClosed'>;
}

/** Delay before rows are written, so that many devices that connect or disconnect at once share one commit. */
const FLUSH_MS = 20;
/** How often a write that failed is repeated, and the most rows that wait for it: the oldest are dropped. */
const REPEAT_MS = 1000;
const MAX_UNWRITTEN = 10_000;

/** Records in the ledger, in the background, when devices connect, are interrupted and leave. */
export class DeviceRows {
  readonly #parts: DeviceRowsParts;
  readonly #unwritten: LedgerDraft[] = [];

  constructor(parts: DeviceRowsParts) {
    this.#parts = parts;
  }

  record({ tenant, clientId, name, session }: Device, state: 'online' | 'away' | 'gone'): void {
    const row = plainRow('device.changed', tenant, this.#parts.clock.now(), {
      client_id: clientId,
      name,
      session,
      state,
    });
    this.#unwritten.push(row);
    if (this.#unwritten.length === 1) this.#parts.tasks.start('device rows', async () => await this.#flush());
  }

  async #flush(): Promise<void> {
    const rows = this.#unwritten;
    await this.#pause(FLUSH_MS);
    while (rows.length > 0) {
      const { length } = rows;
      try {
        await this.#parts.store.append([...rows]);
        rows.splice(0, length);
      } catch (error) {
        if (storeFailure(error) === null || this.#parts.lifecycle.isClosed) {
          rows.length = 0;
          throw error;
        }
        rows.splice(0, Math.max(0, rows.length - MAX_UNWRITTEN));
        await this.#pause(REPEAT_MS);
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.clock.after(ms, resolve));
  }
}
