import { utf8Bytes } from '../core/json/utf8-bytes.ts';
import type { TransientEvent } from '../core/peers.ts';
import type { Clock } from '../core/ports.ts';
import type { Bus } from './bus.ts';
import type { NodeRow } from './node-table.ts';
import type { Notification } from './notification.ts';
import { GROWN_WITHIN_MS, SPENT_EVERY_MS, TRANSIENT_BYTES } from './timing.ts';

export interface OutboxParts {
  readonly bus: Bus;
  readonly clock: Clock;
  /** Other nodes that hold a writer. */
  readonly others: () => readonly NodeRow[];
}

/** Notifications to the other nodes; nothing is sent while there are none. */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #spent: Map<string, number> = new Map();
  #isGrown = false;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  send(notification: Notification): void {
    const { bus, others } = this.#parts;
    if (others().length > 0) bus.send('all', notification);
  }

  /** The ledger has new rows. */
  grown(): void {
    if (this.#isGrown || this.#parts.others().length === 0) return;
    this.#isGrown = true;
    this.#parts.clock.after(GROWN_WITHIN_MS, () => {
      this.#isGrown = false;
      this.send({ kind: 'grown' });
    });
  }

  spent(bucket: string, tokens: number): void {
    if (this.#parts.others().length === 0) return;
    if (this.#spent.size === 0) this.#parts.clock.after(SPENT_EVERY_MS, () => this.#sendSpent());
    this.#spent.set(bucket, (this.#spent.get(bucket) ?? 0) + tokens);
  }

  /** Only to nodes where the tenant's events are followed. */
  transient(event: TransientEvent): void {
    const { bus, others } = this.#parts;
    const { tenant } = event.call;
    const followers = others().filter(({ follows }) => follows.includes(tenant));
    if (followers.length === 0 || utf8Bytes(JSON.stringify(event)) > TRANSIENT_BYTES) return;
    for (const { writer } of followers) bus.send(writer, { kind: 'transient', tenant, event });
  }

  #sendSpent(): void {
    this.send({ kind: 'rates', spent: [...this.#spent] });
    this.#spent.clear();
  }
}
